using System.Collections.Concurrent;
using Billing.Chaos.Network;
using Billing.LocalStack;
using Billing.LocalStack.Postgres;
using Billing.Messaging;
using Confluent.Kafka;

namespace Billing.Chaos.Faults;

/// <summary>An injected fault.</summary>
/// <param name="Fault">The planned fault.</param>
/// <param name="Injected">The timestamp of the soak's clock at which it was injected.</param>
/// <param name="Recovered">The timestamp at which it was repaired.</param>
public sealed record InjectedFault(Fault Fault, long Injected, long Recovered);

/// <summary>Injects faults and repairs them. The target of a fault gets no other fault before it is repaired.
/// At most one proxy and one broker are down at a time, whatever the schedule contains.</summary>
/// <param name="network">The networks that can be cut; null if none can.</param>
/// <param name="otherPrograms">The folder of the programs of another release; null if there is none.</param>
/// <param name="time">The clock.</param>
/// <param name="say">Gets what happens.</param>
public sealed class FaultInjector(
    BillingStack stack, StackNetwork? network, string? otherPrograms, TimeProvider time, Action<string> say)
    : IDisposable
{
    private const int SlowSyncMs = 2000;

    private static readonly TimeSpan WatchInterval = TimeSpan.FromMilliseconds(500);

    // By then, sessions are in the middle of a commit.
    private static readonly TimeSpan InCommit = TimeSpan.FromMilliseconds(500);

    private readonly ConcurrentDictionary<(FaultPool, int), SemaphoreSlim> _gates = new();
    private readonly ServiceRestarts _restarts = new(stack, otherPrograms, time, say);
    private readonly TopicFaults _topics = new(stack.BootstrapServers!, time);
    private int _endedThemselves;

    // Changed only by who holds the gate of no process.
    private List<TopicPartitionOffset> _badRecords = [];

    /// <summary>Number of services that ended by themselves.</summary>
    public int EndedThemselves => Volatile.Read(ref _endedThemselves);

    /// <summary>The places of sent records that must be in the dead letters.</summary>
    public IReadOnlyCollection<TopicPartitionOffset> BadRecordsSent => _badRecords;

    /// <summary>Is called with what was on a topic that has been deleted and created again.</summary>
    public Action<DeletedLog> Deleted { get; init; } = static _ => { };

    /// <summary>Waits a limited time until the events that are stored are published.</summary>
    public Func<CancellationToken, Task> PublishedAsync { get; init; } = static _ => Task.CompletedTask;

    /// <summary>Injects a fault, waits for its duration, and repairs it.</summary>
    /// <param name="injecting">Is called immediately before the injection.</param>
    /// <param name="cancellationToken">Cancels, possibly without the repair.</param>
    public async Task<InjectedFault> RunAsync(Fault fault, Action injecting, CancellationToken cancellationToken)
    {
        var (injected, recovered) = (0L, 0L);
        await HoldingAsync(
            [Gate(FaultProfile.Of(fault.Kind).Pool, fault.Target)],
            async () =>
            {
                injecting();
                injected = time.GetTimestamp();
                await InjectAsync(fault, cancellationToken);
                recovered = time.GetTimestamp();
            },
            cancellationToken);
        return new InjectedFault(fault, injected, recovered);
    }

    /// <summary>Repairs what faults have left for the rest of the soak: clocks that are wrong.</summary>
    public async Task RepairAsync(CancellationToken cancellationToken)
    {
        foreach (var service in stack.Services.Where(_restarts.HasWrongClock).ToList())
        {
            await HoldingAsync(
                service, running => _restarts.SetClockRightAsync(running, cancellationToken), cancellationToken);
        }
    }

    /// <summary>Restarts services that have ended by themselves, as an orchestrator does, until cancelled.</summary>
    public async Task WatchAsync(CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(WatchInterval, time);
        while (await timer.WaitForNextTickAsync(cancellationToken))
        {
            foreach (var service in stack.Services.Where(s => s.Process.HasExited))
            {
                var gate = Gate(PoolOf(service.Role), service.Number);
                if (!await gate.WaitAsync(TimeSpan.Zero, cancellationToken))
                {
                    continue;
                }
                try
                {
                    // Before the gate was acquired, a fault may have begun and ended.
                    if (stack.Services.Contains(service))
                    {
                        Interlocked.Increment(ref _endedThemselves);
                        say(
                            $"{service.Process.Name} ended by itself with exit code {service.Process.ExitCode}: "
                            + $"{string.Concat(service.Process.LastLogLines(1))}");
                        await _restarts.StartAsync(service.Role, service.Number, cancellationToken);
                    }
                }
                finally
                {
                    gate.Release();
                }
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (var gate in _gates.Values)
        {
            gate.Dispose();
        }
    }

    private async Task InjectAsync(Fault fault, CancellationToken cancellationToken)
    {
        switch (fault.Kind)
        {
            case FaultKind.KillPaymentBackend or FaultKind.KillBalanceBackend or FaultKind.KillProxy:
                var killed = Service(fault);
                killed.Process.Kill();
                await WaitAsync(fault, cancellationToken);
                await _restarts.StartAsync(killed.Role, killed.Number, cancellationToken);
                break;
            case FaultKind.FreezePaymentBackend or FaultKind.FreezeProxy:
                var frozen = Service(fault);
                await FreezeAsync(frozen.Process.Pause, frozen.Process.Resume, fault, cancellationToken);
                break;
            case FaultKind.RestartPaymentBackend or FaultKind.RestartBalanceBackend or FaultKind.RestartProxy:
                await _restarts.RestartAsync(Service(fault), cancellationToken);
                break;
            case FaultKind.CrashLoop:
                await _restarts.CrashAgainAndAgainAsync(Service(fault), fault.Lasts, cancellationToken);
                break;
            case FaultKind.RestartAll:
                await RestartAllAsync(cancellationToken);
                break;
            case FaultKind.SetClockWrong:
                var misled = stack.Services[fault.Target - 1];
                await HoldingAsync(
                    misled, service => _restarts.SetClockWrongAsync(service, fault.ClockOff, cancellationToken),
                    cancellationToken);
                break;
            case FaultKind.KillBroker:
                stack.Kafka!.KillBroker(fault.Target);
                await WaitAsync(fault, cancellationToken);
                await stack.Kafka.StartBrokerAsync(fault.Target, cancellationToken);
                break;
            case FaultKind.FreezeBroker:
                var broker = stack.Kafka!.Processes.ElementAt(fault.Target - 1);
                await FreezeAsync(broker.Pause, broker.Resume, fault, cancellationToken);
                break;
            case FaultKind.LosePower:
                await LosePowerAsync(fault, cancellationToken);
                break;
            case FaultKind.BurnBroker:
                await Brokers.BurnAsync(fault.Target, fault.Lasts, cancellationToken);
                break;
            case FaultKind.RotBroker:
                await Task.WhenAll(Brokers.RotAsync(fault, cancellationToken), LoseReadersAsync(cancellationToken));
                break;
            case FaultKind.SlowBroker:
                var disk = stack.Kafka!.DiskOf(fault.Target)!;
                await FreezeAsync(() => disk.Set(SlowSyncMs), () => disk.Set(0), fault, cancellationToken);
                break;
            case FaultKind.CutBroker or FaultKind.CutBrokerAnswers:
                var (between, cut) = (network!.Brokers, fault.Kind == FaultKind.CutBroker ? Cut.Both : Cut.Answers);
                await FreezeAsync(
                    () => between.CutOff(fault.Target, cut),
                    () => between.CutOff(fault.Target, Cut.None), fault, cancellationToken);
                break;
            case var kind when FaultProfile.IsOfNetwork(kind):
                await CutAsync(fault, cancellationToken);
                break;
            case FaultKind.CrashPostgres:
                await Database(fault).CrashAsync();
                await WaitAsync(fault, cancellationToken);
                await Database(fault).StartAsync(cancellationToken);
                break;
            case FaultKind.SlowPostgres:
                await FreezeAsync(
                    () => stack.PostgresDisk!.Set(SlowSyncMs),
                    () => stack.PostgresDisk!.Set(0), fault, cancellationToken);
                break;
            case FaultKind.KillSlowPostgres:
                await KillSlowPostgresAsync(fault, cancellationToken);
                break;
            case FaultKind.FreezePostgres:
                await FreezeAsync(Database(fault).Pause, Database(fault).Resume, fault, cancellationToken);
                break;
            case FaultKind.BadRecords:
                var sent = await BadRecords.SendAsync(stack.BootstrapServers!, cancellationToken);
                _badRecords = [.. _badRecords, .. sent];
                break;
            case FaultKind.MakeTopicAgain:
                await MakeTopicAgainAsync(fault, cancellationToken);
                break;
            case FaultKind.AddPartition:
                await _topics.AddPartitionAsync(TopicOf(fault), cancellationToken);
                break;
            case var kind when FaultProfile.IsOfOffsets(kind):
                await ChangeOffsetsAsync(fault, cancellationToken);
                break;
            case var kind when FaultProfile.IsOfReplicas(kind):
                await new ReplicaFaults(stack.Replicas!, network?.Databases)
                    .InjectAsync(fault.Kind, () => WaitAsync(fault, cancellationToken), cancellationToken);
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(fault), fault.Kind, "There is no such fault.");
        }
    }

    private Task CutAsync(Fault fault, CancellationToken cancellationToken)
    {
        var service = network!.Of(Service(fault).Role);
        return fault.Kind switch
        {
            FaultKind.FlappingNetwork => service.FlapAsync(fault.Lasts, cancellationToken),
            FaultKind.CutFromPostgres => CutAsync(service.CutStore, Cut.Both),
            FaultKind.CutFromAnswers or FaultKind.CutProxyFromAnswers or FaultKind.CutBalanceBackendFromAnswers =>
                CutAsync(service.CutBrokers, Cut.Answers),
            _ => CutAsync(service.CutBrokers, Cut.Both),
        };

        Task CutAsync(Action<Cut> cut, Cut directions) =>
            FreezeAsync(() => cut(directions), () => cut(Cut.None), fault, cancellationToken);
    }

    private BrokerFaults Brokers => new(stack.Kafka!, _topics, time, say);

    // Who reads late reads what has rotted; what is read at once is seldom damaged yet.
    private Task LoseReadersAsync(CancellationToken cancellationToken) => HoldingAsync(
        PaymentGates, () => RestartReadersAsync(() => Task.CompletedTask, cancellationToken), cancellationToken);

    private LocalPostgres Database(Fault fault) =>
        fault.Target == 1 ? stack.Postgres! : stack.MoreDatabases[fault.Target - 2];

    // It is a fault of the brokers' pool, and takes PostgreSQL as well.
    private Task LosePowerAsync(Fault fault, CancellationToken cancellationToken) => HoldingAsync(
        [Gate(FaultPool.Postgres, fault.Target)],
        async () =>
        {
            await stack.LosePowerAsync();
            await WaitAsync(fault, cancellationToken);
            await stack.RestorePowerAsync(cancellationToken);
        },
        cancellationToken);

    // A stored event is published again by its command, so it would never be published if a backend had ended before
    // that, and the command were deleted: nothing may be left from an earlier fault, and nothing ends until what is in
    // flight is published.
    private Task MakeTopicAgainAsync(Fault fault, CancellationToken cancellationToken) => HoldingAsync(
        [Gate(FaultPool.None, 0), .. PaymentGates, Gate(FaultPool.Postgres, 0)],
        async () =>
        {
            await PublishedAsync(cancellationToken);
            var log = await _topics.MakeAgainAsync(TopicOf(fault), cancellationToken);
            _badRecords = [.. _badRecords.Where(record => !log.MayHaveLost(record))];
            Deleted(log);
            await PublishedAsync(cancellationToken);
        },
        cancellationToken);

    private Task ChangeOffsetsAsync(Fault fault, CancellationToken cancellationToken) => HoldingAsync(
        PaymentGates,
        () => RestartReadersAsync(
            async () =>
            {
                await _topics.WaitUntilGroupIsEmptyAsync(cancellationToken);
                await _topics.ChangeOffsetsAsync(fault.Kind, TopicOf(fault), cancellationToken);
            },
            cancellationToken),
        cancellationToken);

    private async Task RestartReadersAsync(Func<Task> meanwhile, CancellationToken cancellationToken)
    {
        List<ServiceProcess> backends = [.. stack.Of(ServiceRole.PaymentBackend)];
        backends.ForEach(backend => backend.Process.Kill());
        await meanwhile();
        await Task.WhenAll(
            backends.Select(backend => _restarts.StartAsync(backend.Role, backend.Number, cancellationToken)));
    }

    // Those whose callers wait last, as an upgrade does.
    private async Task RestartAllAsync(CancellationToken cancellationToken)
    {
        foreach (var service in stack.Services.Reverse().ToList())
        {
            await HoldingAsync(
                service, running => _restarts.ChangeReleaseAsync(running, cancellationToken), cancellationToken);
        }
    }

    // It may have been started again before the gate is open.
    private Task HoldingAsync(
        ServiceProcess service, Func<ServiceProcess, Task> work, CancellationToken cancellationToken) =>
        HoldingAsync(
            [Gate(PoolOf(service.Role), service.Number)],
            () => work(stack.Of(service.Role).First(running => running.Number == service.Number)), cancellationToken);

    private static async Task HoldingAsync(
        IEnumerable<SemaphoreSlim> gates, Func<Task> work, CancellationToken cancellationToken)
    {
        var held = new Stack<SemaphoreSlim>();
        try
        {
            foreach (var gate in gates)
            {
                await gate.WaitAsync(cancellationToken);
                held.Push(gate);
            }
            await work();
        }
        finally
        {
            foreach (var gate in held)
            {
                gate.Release();
            }
        }
    }

    private async Task KillSlowPostgresAsync(Fault fault, CancellationToken cancellationToken)
    {
        stack.PostgresDisk!.Set(long.MaxValue);
        try
        {
            await Task.Delay(InCommit, time, cancellationToken);
            stack.Postgres!.Kill();
            await WaitAsync(fault, cancellationToken);
        }
        finally
        {
            stack.PostgresDisk.Set(0);
        }
        await stack.Postgres.StartAsync(cancellationToken);
    }

    /// <summary>Pauses something, and resumes it whatever happens.</summary>
    internal static async Task FreezeAsync(Action pause, Action resume, Func<Task> wait)
    {
        pause();
        try
        {
            await wait();
        }
        finally
        {
            resume();
        }
    }

    private Task FreezeAsync(Action pause, Action resume, Fault fault, CancellationToken cancellationToken) =>
        FreezeAsync(pause, resume, () => WaitAsync(fault, cancellationToken));

    private Task WaitAsync(Fault fault, CancellationToken cancellationToken) =>
        Task.Delay(fault.Lasts, time, cancellationToken);

    private ServiceProcess Service(Fault fault)
    {
        var pool = FaultProfile.Of(fault.Kind).Pool;
        return stack.Services.First(s => PoolOf(s.Role) == pool && s.Number == fault.Target);
    }

    private static string TopicOf(Fault fault) => Topics.AllPayments[fault.Target - 1];

    private IEnumerable<SemaphoreSlim> PaymentGates =>
        stack.Of(ServiceRole.PaymentBackend).Select(service => Gate(FaultPool.PaymentBackends, service.Number));

    private SemaphoreSlim Gate(FaultPool pool, int target) => _gates.GetOrAdd(
        (pool, pool is FaultPool.PaymentBackends or FaultPool.BalanceBackends ? target : 0), _ => new SemaphoreSlim(1));

    private static FaultPool PoolOf(ServiceRole role) => role switch
    {
        ServiceRole.PaymentBackend => FaultPool.PaymentBackends,
        ServiceRole.BalanceBackend => FaultPool.BalanceBackends,
        _ => FaultPool.Proxies,
    };
}
