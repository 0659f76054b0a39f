using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Requests;
using Billing.Simulation.Books;
using Billing.Simulation.Callers;
using Billing.Simulation.Kafka;
using Billing.Simulation.Schedules;

namespace Billing.Simulation.Runs;

/// <summary>The result of a run: what was wrong, or null, and the hash of its trace, whose lines are there
/// if they were kept.</summary>
internal sealed record RunResult(
    Schedule Schedule, string? Failure, ulong Hash, string Trace, TimeSpan Simulated, int Steps);

/// <summary>One run of a schedule, from the platform's start, through all operations and faults,
/// until it is at rest.</summary>
internal sealed partial class Run
{
    // By then every fault but the pause of a machine is over, and killed processes have been restarted.
    private static readonly TimeSpan Healed = TimeSpan.FromMilliseconds(Schedule.BeginsMs + 6500);

    // A platform that is not at rest by then, after the last fault, counts as stuck.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    // By then, whatever other faults have delayed has been answered.
    private static readonly TimeSpan DamagedUntil = TimeSpan.FromSeconds(40);

    private static readonly TimeSpan Moving = TimeSpan.FromSeconds(5);

    // Beyond the lease of what a webhook service delivers.
    private static readonly TimeSpan Pausing = TimeSpan.FromSeconds(15);
    private static readonly TimeSpan Settling = TimeSpan.FromSeconds(5);

    private readonly Schedule _schedule;
    private readonly Scheduler _scheduler;
    private readonly Dice _dice;
    private readonly Trace _trace;
    private readonly Platform _platform;
    private readonly ReferenceModel _model;
    private Node _world;
    private Clients _clients;
    private readonly TimeSpan _early;
    private readonly List<SdkDoor> _sdks = [];
    private int _badRecords;
    private bool _requestsLost;

    private Run(Schedule schedule, bool keepsTrace)
    {
        _schedule = schedule;
        _dice = new Dice(schedule.Seed ^ 0x5EED);
        _scheduler = new Scheduler(_dice);
        _trace = new Trace(_scheduler, keepsTrace);
        _platform = new Platform(_scheduler, _dice, schedule.Settings, _trace);
        if (keepsTrace)
        {
            _platform.Brokers.Appended = TraceRecord;
            _platform.Store.History.Appended = stored =>
                _trace.Write(
                    "event store", $"{stored.StreamId}@{stored.Version}", Guid.Parse(stored.Recorded.TransactionId));
        }
        _platform.Store.Operator.Traced = (who, what) => _trace.Write(who, what);
        // A backend whose clock is ahead, or that follows one that is, refuses commands as expired too early.
        _early = Clients.Rounding
            + TimeSpan.FromMilliseconds((2 * schedule.Settings.ClockSkewMs) + (schedule.Settings.IsSteady ? 100 : 0));
        _model = new ReferenceModel(_platform.Store.History, () => _scheduler.Now)
        {
            EarlyBy = _early.Ticks,
            ClocksDiffer = schedule.ClocksDiffer?.Ticks,
            IsExcused = schedule.Excuses,
            MayLoseCommands = schedule.MayLoseRequests,
            // A shard that moves is read again from the watermark of its partition.
            MayRepeat = schedule.PlatformFaults.Any() || schedule.Settings.Databases > 1,
        };
        _model.Set(schedule.Settings.OpeningLimits);
        _model.Watch();
        _platform.Store.History.Restored = _model.TakeBack;
        (_world, _clients) = NewClients();
    }

    private (Node World, Clients Clients) NewClients()
    {
        var world = new Node("clients", _scheduler);
        var network = new SdkNetwork(world, _scheduler, new Dice(_schedule.Seed), () => _platform.Proxies, Healed);
        var sdk = new SdkDoor(world, network, _schedule.Settings.Proxies);
        _sdks.Add(sdk);
        return (
            world,
            new Clients(world, _scheduler, _model, () => _platform.Proxies, _trace) { Early = _early, Sdk = sdk });
    }

    /// <summary>Runs a schedule. Deterministic: the same schedule always gives the same run.</summary>
    public static RunResult Of(Schedule schedule, bool keepsTrace = false)
    {
        var exitCode = Environment.ExitCode;
        var run = new Run(schedule, keepsTrace);
        string? failure = null;
        try
        {
            run.Play();
        }
        catch (Exception e)
        {
            // Whatever goes wrong is a finding of this seed, also a fault of the simulation itself.
            failure = e is SimulationException ? e.Message : e.ToString();
        }
        finally
        {
            run._scheduler.End();
            run._sdks.ForEach(sdk => sdk.Dispose());
            // Supervisors set the exit code of the process, which here is that of the simulation.
            Environment.ExitCode = exitCode;
        }
        run._trace.Write("run", failure ?? "ends well");
        return new RunResult(
            schedule, failure, run._trace.Hash, run._trace.Lines,
            TimeSpan.FromTicks(run._scheduler.Now), run._scheduler.Steps);
    }

    private void Play()
    {
        foreach (var operation in _schedule.Operations)
        {
            _clients.Add(operation);
        }
        foreach (var fault in _schedule.Faults)
        {
            Prepare(fault);
            _scheduler.After(TimeSpan.FromMilliseconds(fault.AtMs), null, () => Inject(fault));
        }
        _platform.Store.Operator.MoveSome(Clients.Streams, Moving);
        var end = _schedule.Faults.Count == 0 ? TimeSpan.Zero : Healed;
        _scheduler.RunUntil(end.Ticks, () => Failure is not null);
        _scheduler.RunUntil((end + Patience).Ticks, () => Failure is not null || (_clients.Open == 0 && IsAtRest()));
        ReferenceModel.Require(Failure is null, Failure ?? "");
        ReferenceModel.Require(
            _clients.Open == 0, $"{_clients.Open} calls have no answer long after the last fault: {Unrest()}");
        ReferenceModel.Require(IsAtRest(), "the platform does not come to rest: " + Unrest());
        _scheduler.Run(Settling);
        // A move that has begun meanwhile ends, too.
        _scheduler.RunUntil(
            _scheduler.Now + Patience.Ticks, () => Failure is not null || !_platform.Store.Unrests().Any());
        ReferenceModel.Require(Failure is null, Failure ?? "");
        ReferenceModel.Require(!_platform.Store.Unrests().Any(), "the databases do not come to rest: " + Unrest());
        CheckEnd();
    }

    private void TraceRecord(Log log, StoredRecord record)
    {
        var about = Guid.Empty;
        var what = "a record";
        if (log.Partition.Topic == Topics.Events
            && Messaging.WireFormat.TryReadEvent(record.Value, "1"u8, out var recorded, out _))
        {
            (what, about) = ($"{recorded.StreamId}@{recorded.Version}", Guid.Parse(recorded.TransactionId));
        }
        else if (Messaging.WireFormat.TryReadCommand(record.Value, "1"u8, out var command, out _))
        {
            var queued = command!.IsQueued ? "queued " : "";
            (what, about) = ($"{queued}{command.RequestCase} {CommandRoute.Of(command).StreamId}", Guid.Parse(
                command.TransactionId));
        }
        _trace.Write("brokers", $"{log.Partition.Topic}[{log.Partition.Partition.Value}]@{log.End - 1}: {what}", about);
    }

    // A violation found by a client, or the failure of a process.
    private string? Failure => _world.Failure ?? _platform.Failure ?? _platform.Store.Operator.Failure;

    private bool IsAtRest() => !Unrests().Any();

    private string Unrest() => string.Join("; ", Unrests());

    private IEnumerable<string> Unrests()
    {
        foreach (var proxy in _platform.Proxies.Where(p => !p.Node.IsAlive || p.Pending.Count > 0))
        {
            yield return $"{proxy.Node.Name} waits for {proxy.Pending.Count} replies";
        }
        foreach (var backend in _platform.Backends.Where(b => !b.Node.IsIsolated)
            .Where(b => !b.Node.IsAlive || b.Tracked != 0 || b.Replier.InFlight != 0))
        {
            yield return $"{backend.Node.Name} has {backend.Tracked} offsets and {backend.Replier.InFlight} "
                + "commands in flight";
        }
        if (_platform.Store.History.OpenHolds.Count is > 0 and var held)
        {
            yield return $"{held} payments are still on hold";
        }
        foreach (var webhooks in _platform.Webhooks.Where(webhooks => !webhooks.Node.IsAlive))
        {
            yield return $"{webhooks.Node.Name} does not run";
        }
        if (_platform.PendingWebhooks is > 0 and var pending)
        {
            yield return $"{pending} events wait for their receivers";
        }
        (string, IReadOnlyList<string>)[] read =
        [
            (Groups.Payments, Topics.AllPayments), (Groups.Balances, Topics.AllBalances),
            .. _platform.Webhooks.Count > 0
                ? [(Groups.Webhooks, [Topics.Events])]
                : Array.Empty<(string, IReadOnlyList<string>)>(),
        ];
        foreach (var (name, topics) in read)
        {
            var group = _platform.Brokers.Group(name);
            foreach (var log in topics.SelectMany(topic => _platform.Brokers.Find(topic)!))
            {
                var committed = group.Committed.GetValueOrDefault(log.Partition);
                // Of a log with nothing to read, nobody learns that the offset is wrong;
                // whoever reads the next record does.
                if (committed != log.End && log.Present.Any(record => !record.IsSettled))
                {
                    yield return $"{log.Partition} of {group.OwnerOf(log.Partition)?.Name} ends at {log.End}; "
                        + $"committed is {committed}";
                }
            }
        }
        foreach (var unrest in _platform.Store.Unrests())
        {
            yield return unrest;
        }
    }
}
