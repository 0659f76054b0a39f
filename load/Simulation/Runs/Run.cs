using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.Messaging.Requests;
using Billing.Simulation.Kafka;
using Billing.Simulation.Services;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Simulation.Runs;

/// <summary>The result of a run: what was wrong, or null, and the hash of its trace, whose lines are there if they were kept.</summary>
internal sealed record RunResult(Schedule Schedule, string? Failure, ulong Hash, string Trace, TimeSpan Simulated, int Steps);

/// <summary>One run of a schedule, from the platform's start, through all operations and faults, until it is at rest.</summary>
internal sealed class Run
{
    // By then every fault is over, and killed processes have been restarted.
    private static readonly TimeSpan Healed = TimeSpan.FromMilliseconds(Schedule.BeginsMs + 6500);

    // A platform that is not at rest by then, after the last fault, counts as stuck.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    // By then, whatever other faults have delayed has been answered.
    private static readonly TimeSpan DamagedUntil = TimeSpan.FromSeconds(40);

    private static readonly TimeSpan Moving = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Settling = TimeSpan.FromSeconds(5);

    private readonly Schedule _schedule;
    private readonly Scheduler _scheduler;
    private readonly Dice _dice;
    private readonly Trace _trace;
    private readonly Platform _platform;
    private readonly ReferenceModel _model;
    private readonly Node _world;
    private readonly Clients _clients;
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
                _trace.Write("event store", $"{stored.StreamId}@{stored.Version}", Guid.Parse(stored.Recorded.TransactionId));
        }
        // A backend whose clock is ahead, or that follows one that is, refuses commands as expired too early.
        var early = Clients.Rounding + TimeSpan.FromMilliseconds((2 * schedule.Settings.ClockSkewMs) + (schedule.Settings.IsSteady ? 100 : 0));
        _model = new ReferenceModel(_platform.Store.History, () => _scheduler.Now)
        {
            EarlyBy = early.Ticks,
            ClocksDiffer = schedule.ClocksDiffer?.Ticks,
            IsExcused = schedule.Excuses,
            MayLoseCommands = schedule.MayLoseRequests,
        };
        _model.Watch();
        _world = new Node("clients", _scheduler);
        _clients = new Clients(_world, _scheduler, _model, () => _platform.Proxies, _trace)
        {
            Early = early,
        };
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
        catch (SimulationException e)
        {
            failure = e.Message;
        }
        finally
        {
            run._scheduler.End();
            // Supervisors set the exit code of the process, which here is that of the simulation.
            Environment.ExitCode = exitCode;
        }
        run._trace.Write("run", failure ?? "ends well");
        return new RunResult(
            schedule, failure, run._trace.Hash, run._trace.Lines, TimeSpan.FromTicks(run._scheduler.Now), run._scheduler.Steps);
    }

    private void Play()
    {
        foreach (var operation in _schedule.Operations)
        {
            _clients.Add(operation);
        }
        foreach (var fault in _schedule.Faults)
        {
            _scheduler.After(TimeSpan.FromMilliseconds(fault.AtMs), null, () => Inject(fault));
        }
        _platform.Store.MoveShards(Clients.Streams, Moving);
        var end = _schedule.Faults.Count == 0 ? TimeSpan.Zero : Healed;
        _scheduler.RunUntil(end.Ticks, () => Failure is not null);
        _scheduler.RunUntil((end + Patience).Ticks, () => Failure is not null || (_clients.Open == 0 && IsAtRest()));
        ReferenceModel.Require(Failure is null, Failure ?? "");
        ReferenceModel.Require(_clients.Open == 0, $"{_clients.Open} calls have no answer long after the last fault: {Unrest()}");
        ReferenceModel.Require(IsAtRest(), "the platform does not come to rest: " + Unrest());
        _scheduler.Run(Settling);
        CheckEnd();
    }

    private void TraceRecord(Log log, StoredRecord record)
    {
        var about = Guid.Empty;
        var what = "a record";
        if (log.Partition.Topic == Topics.Events && Messaging.WireFormat.TryReadEvent(record.Value, "1"u8, out var recorded, out _))
        {
            (what, about) = ($"{recorded.StreamId}@{recorded.Version}", Guid.Parse(recorded.TransactionId));
        }
        else if (Messaging.WireFormat.TryReadCommand(record.Value, "1"u8, out var command, out _))
        {
            (what, about) = (CommandRoute.Of(command!).StreamId, Guid.Parse(command!.TransactionId));
        }
        _trace.Write("brokers", $"{log.Partition.Topic}[{log.Partition.Partition.Value}]@{log.End - 1}: {what}", about);
    }

    // A violation found by a client, or the failure of a process.
    private string? Failure => _world.Failure ?? _platform.Failure;

    private void Inject(Fault fault)
    {
        _trace.Write("fault", fault.ToString());
        var lasts = TimeSpan.FromMilliseconds(fault.LastsMs);
        var until = _scheduler.Now + lasts.Ticks;
        var (brokers, settings) = (_platform.Brokers, _schedule.Settings);
        var (proxy, payments, balances) =
            (fault.Target % settings.Proxies, fault.Target % settings.PaymentBackends, fault.Target % settings.BalanceBackends);
        Action inject = fault.Kind switch
        {
            FaultKind.CrashProxy => () => _platform.CrashProxy(proxy, lasts),
            FaultKind.CrashPayments => () => _platform.CrashPayments(payments, lasts),
            FaultKind.CrashBalances => () => _platform.CrashBalances(balances, lasts),
            FaultKind.StopPayments => () => _platform.StopPayments(payments, lasts),
            FaultKind.StopBalances => () => _platform.StopBalances(balances, lasts),
            FaultKind.FreezePayments => () => _platform.Freeze(_platform.Payments[payments].Node, lasts),
            FaultKind.FreezeBalances => () => _platform.Freeze(_platform.Balances[balances].Node, lasts),
            FaultKind.FreezeProxy => () => FreezeProxy(proxy, lasts),
            FaultKind.Rebalance => () => brokers.Group(Groups.Payments).MoveOne(_dice),
            FaultKind.EvictPayments => () => _platform.Evict(_platform.Payments[payments].Node),
            FaultKind.BrokersAway => () => brokers.AwayUntil = until,
            FaultKind.BrokersSlow => () => SlowBrokers(until),
            FaultKind.ProxyQueueFull => () => _platform.Proxies[proxy].Producer.FullUntil = until,
            FaultKind.PaymentsQueueFull => () => FillPaymentsQueue(payments, until),
            FaultKind.EventsDeleted => DeleteEvents,
            FaultKind.RequestsStartAgain => StartRequestsAgain,
            FaultKind.BadRecords => InjectBadRecords,
            FaultKind.StoreAway => () => _platform.Store.Of(fault.Target).AwayUntil = until,
            FaultKind.StoreReadOnly => () => _platform.Store.Of(fault.Target).ReadOnlyUntil = until,
            FaultKind.StoreUnsure => () => _platform.Store.Of(fault.Target).UnsureUntil = until,
            FaultKind.StoreSlow => () => _platform.Store.Of(fault.Target).SlowUntil = until,
            FaultKind.CommitsStall => () => _platform.Store.Of(fault.Target).StallUntil = until,
            FaultKind.AccountDamaged => () => _platform.Store.Damage(Clients.Stream(fault.Target), until),
            FaultKind.AccountDamagedForLong => () => DamageForLong(fault.Target),
            FaultKind.ReceiptsDamaged => () => _platform.Store.Of(fault.Target).ReceiptsDamagedUntil = until,
            FaultKind.OlderRelease => () => _platform.MakeOlder(payments, lasts),
            FaultKind.CutFromStore => () => _platform.Payments[payments].Node.ToStore.Cut(lasts, TimeSpan.Zero),
            FaultKind.CutFromBrokers => () => _platform.CutFromBrokers(_platform.Payments[payments].Node, lasts, TimeSpan.Zero),
            FaultKind.FlappingFromBrokers => () => _platform.CutFromBrokers(_platform.Payments[payments].Node, lasts, _dice.UpTo(1000) + TimeSpan.FromMilliseconds(50)),
            FaultKind.Isolated => () => _platform.Isolate(_platform.Payments[payments].Node, lasts),
            FaultKind.CutProxy => () => _platform.CutFromBrokers(_platform.Proxies[proxy].Node, lasts, TimeSpan.Zero),
            FaultKind.FreezeAtStep => () => FreezeAtStep(payments, lasts),
            FaultKind.MachinePaused => () => _platform.PauseMachine(_platform.Payments[payments].Node, lasts),
            FaultKind.ClockStep => () => _platform.StepClock(_platform.Payments[payments].Node, lasts),
            FaultKind.PartitionAdded => () => brokers.AddPartition(_dice.Pick(Topics.AllRequests)),
            FaultKind.LeaderSlow => () => brokers.Slow = (fault.Target, until),
            FaultKind.RepliesStuck => () => brokers.Stuck = (_platform.Proxies[proxy].ReplyTopic, until),
            FaultKind.PaymentsMadeAgainUnseen => () => Unseen(lasts, MakePaymentsAgain),
            FaultKind.OffsetsLost => () => Unseen(lasts, () => ChangeOffsets((_, _) => -1)),
            FaultKind.OffsetsBack => () => Unseen(lasts, () => ChangeOffsets((_, committed) => Math.Max(0, committed - _dice.Between(1, 20)))),
            FaultKind.OffsetsPastEnd => () => Unseen(lasts, () => ChangeOffsets((log, _) => log.End + 1000)),
            FaultKind.PaymentsTruncated => TruncatePayments,
            FaultKind.PaymentsTruncatedUnseen => () => Unseen(lasts, TruncatePayments),
            _ => throw new SimulationException($"There is no fault {fault.Kind}."),
        };
        inject();
    }

    private void FreezeProxy(int number, TimeSpan time)
    {
        _platform.Freeze(_platform.Proxies[number].Node, time);
        _clients.FrozenUntil = Math.Max(_clients.FrozenUntil, _scheduler.Now + time.Ticks);
    }

    private void FreezeAtStep(int number, TimeSpan time)
    {
        var node = _platform.Payments[number].Node;
        node.AtStep(_dice.Between(1, 100), () => _platform.Freeze(node, time));
    }

    private void DamageForLong(int account)
    {
        _platform.Store.Damage(Clients.Stream(account), DamagedUntil.Ticks);
        if (_schedule.Settings.InFlightMax < Settings.InFlightUsual)
        {
            // The commands of the account fill the backend.
            return;
        }
        _scheduler.At(DamagedUntil.Ticks, new Due(null, () => ReferenceModel.Require(
            !_clients.IsOpen(except: _platform.Store.All[0].Damaged.StreamId), "other accounts wait for one under which the disk is damaged: " + Unrest())));
    }

    private void FillPaymentsQueue(int number, long until)
    {
        _platform.MayFail = true;
        _platform.Payments[number].Producer.FullUntil = until;
    }

    private void SlowBrokers(long until)
    {
        _platform.Brokers.LatencyMs = 300;
        _scheduler.At(until, new Due(null, () => _platform.Brokers.LatencyMs = _schedule.Settings.LatencyMs));
    }

    private void DeleteEvents()
    {
        foreach (var log in _platform.Brokers.Find(Topics.Events)!)
        {
            log.DeleteBefore(log.End - _dice.Next(3));
        }
    }

    private void StartRequestsAgain()
    {
        _requestsLost = true;
        _platform.Brokers.MakeAgain(_dice.Pick(_platform.Brokers.Find(_dice.Pick(Topics.AllRequests))!).Partition.Topic);
    }

    // Does something while no payment backend runs; before it and after it, proxies send commands.
    private void Unseen(TimeSpan down, Action change)
    {
        foreach (var number in Enumerable.Range(0, _schedule.Settings.PaymentBackends))
        {
            _platform.CrashPayments(number, down);
        }
        _scheduler.At(_scheduler.Now + _dice.UpTo(down.TotalMilliseconds).Ticks, new Due(null, change));
    }

    private void MakePaymentsAgain()
    {
        _requestsLost = true;
        _platform.Brokers.MakeAgain(_dice.Pick(Topics.AllPayments));
    }

    private void ChangeOffsets(Func<Log, long, long> change)
    {
        var group = _platform.Brokers.Group(Groups.Payments);
        foreach (var log in Topics.AllPayments.SelectMany(topic => _platform.Brokers.Find(topic)!))
        {
            if (group.Committed.TryGetValue(log.Partition, out var committed))
            {
                var changed = change(log, committed);
                group.Uncommit(log.Partition);
                if (changed >= 0)
                {
                    group.Commit(new Confluent.Kafka.TopicPartitionOffset(log.Partition, changed));
                }
            }
        }
    }

    private void TruncatePayments()
    {
        _requestsLost = true;
        foreach (var log in _platform.Brokers.Find(_dice.Pick(Topics.AllPayments))!)
        {
            log.Truncate(_dice.Next(6));
        }
    }

    private void InjectBadRecords()
    {
        var command = new Command
        {
            TransactionId = _dice.Id().ToString(),
            ProxyTopic = _platform.Proxies[0].ReplyTopic,
            Balance = new V1.CheckBalanceRequest { AccountId = "acct-0", PaymentType = V1.PaymentType.Visa },
        };
        var topic = _dice.Pick(Topics.AllRequests);
        (string? Key, byte[]? Value, string? Version)[] records =
        [
            ("acct-0", null, null),
            (null, [0xFF, 0x01, 0x02], "1"),
            ("acct-0", command.ToByteArray(), "2"),
            // A valid command, but with the wrong key or on the wrong topic.
            (topic == Topics.Balances(V1.PaymentType.Visa) ? "acct-1" : "acct-0", command.ToByteArray(), "1"),
        ];
        foreach (var (key, value, version) in records)
        {
            _platform.Brokers.Inject(topic, key, value, version);
            _platform.Brokers.Inject(Topics.Events, key, value, version);
            _platform.Brokers.Inject(_platform.Proxies[0].ReplyTopic, key, value, version);
            _badRecords++;
        }
    }

    private bool IsAtRest() => !Unrests().Any();

    private string Unrest() => string.Join("; ", Unrests());

    private IEnumerable<string> Unrests()
    {
        foreach (var proxy in _platform.Proxies.Where(p => !p.Node.IsAlive || p.Pending.Count > 0))
        {
            yield return $"{proxy.Node.Name} waits for {proxy.Pending.Count} replies";
        }
        foreach (var backend in _platform.Backends.Where(b => !b.Node.IsIsolated).Where(b => !b.Node.IsAlive || b.Tracked != 0 || b.Replier.InFlight != 0))
        {
            yield return $"{backend.Node.Name} has {backend.Tracked} offsets and {backend.Replier.InFlight} commands in flight";
        }
        if (_platform.Store.History.OpenHolds.Count is > 0 and var held)
        {
            yield return $"{held} payments are still on hold";
        }
        foreach (var (name, topics) in new[] { (Groups.Payments, Topics.AllPayments), (Groups.Balances, Topics.AllBalances) })
        {
            var group = _platform.Brokers.Group(name);
            foreach (var log in topics.SelectMany(topic => _platform.Brokers.Find(topic)!))
            {
                var committed = group.Committed.GetValueOrDefault(log.Partition);
                // Of a log with nothing to read, nobody learns that the offset is wrong; whoever reads the next record does.
                if (committed != log.End && log.Present.Any(record => !record.IsSettled))
                {
                    yield return $"{log.Partition} of {group.OwnerOf(log.Partition)?.Name} ends at {log.End}; committed is {committed}";
                }
            }
        }
    }

    private void CheckEnd()
    {
        _model.CheckStore();
        CheckRead();
        ReferenceModel.Require(_platform.Balances.All(b => b.View.Waiting == 0), "somebody waits for a view for ever");
        CheckDeadLetters();
        if (_schedule.Faults.Count == 0 && !_clients.HasAskedAgain)
        {
            CheckOrder();
        }
        // If a command is deleted before it is settled and its backend crashes, it is not delivered again, and its event may
        // never be published.
        if (!_requestsLost)
        {
            CheckViews();
            CheckEvents();
        }
    }

    /// <summary>Checks that no request that is on a topic was left unread.</summary>
    private void CheckRead()
    {
        foreach (var log in Topics.AllRequests.SelectMany(topic => _platform.Brokers.Find(topic)!))
        {
            ReferenceModel.Require(
                log.Present.All(record => record.IsSettled),
                $"{log.Partition} has {log.Present.Count(record => !record.IsSettled)} records between {log.First} and {log.End} that nobody has settled");
        }
    }

    /// <summary>Checks, for a run without faults and retries, that each account's events are in the order of its commands. Of a command
    /// that was sent more than once, the first copy may have expired for a backend whose clock is ahead, and a later one not.</summary>
    private void CheckOrder()
    {
        var commands = Topics.AllPayments.SelectMany(topic => _platform.Brokers.Find(topic)!).SelectMany(log => log.All)
            .Select(record => Command.Parser.ParseFrom(record.Value)).ToList();
        foreach (var stream in Clients.Streams)
        {
            var asked = commands.Where(c => CommandRoute.Of(c).StreamId == stream).GroupBy(c => c.TransactionId.ToLowerInvariant(), StringComparer.Ordinal)
                .Where(copies => !_clients.Shared.Contains(copies.Key)).Where(copies => _schedule.Settings.ClockSkewMs == 0 || copies.Count() == 1).Select(copies => copies.Key).ToList();
            var stored = _platform.Store.History.Stream(stream).Select(e => e.Recorded.TransactionId).Where(asked.Contains).ToList();
            ReferenceModel.Require(
                asked.Where(stored.Contains).SequenceEqual(stored), $"the events of {stream} are not in the order of its commands");
        }
        foreach (var (stream, ids) in _clients.InTurn)
        {
            var stored = _platform.Store.History.Stream(stream).Select(e => e.Recorded.TransactionId).Where(ids.Contains);
            ReferenceModel.Require(stored.SequenceEqual(ids), $"payments of {stream} were made in turn and stored in another order");
        }
    }

    private void CheckViews()
    {
        foreach (var stream in Clients.Streams)
        {
            foreach (var backend in _platform.Balances)
            {
                if (backend.View.Find(stream) is { } account)
                {
                    _model.Viewed(stream, account);
                }
            }
        }
    }

    /// <summary>Checks that every event is published, and that the events of an account are first published in order, unless two
    /// backends have worked on the account at the same time, or an event of it could not be read.</summary>
    private void CheckEvents()
    {
        var published = new Dictionary<string, long>(StringComparer.Ordinal);
        var all = new HashSet<(string, long)>();
        var mayBeOutOfOrder = _platform.Brokers.HadTwoOwners || _schedule.Faults.Any(fault => fault.Kind == FaultKind.ReceiptsDamaged);
        foreach (var record in _platform.Brokers.Find(Topics.Events)!.SelectMany(log => log.All))
        {
            if (!Messaging.WireFormat.TryReadEvent(record.Value, "1"u8, out var recorded, out _))
            {
                continue;
            }
            var last = published.GetValueOrDefault(recorded.StreamId);
            all.Add((recorded.StreamId, recorded.Version));
            ReferenceModel.Require(
                mayBeOutOfOrder || recorded.Version <= last + 1, $"{recorded.StreamId}@{recorded.Version} was published before {last + 1}");
            published[recorded.StreamId] = Math.Max(last, recorded.Version);
        }
        foreach (var account in Clients.Streams)
        {
            foreach (var stored in _platform.Store.History.Stream(account))
            {
                ReferenceModel.Require(all.Contains((account, stored.Version)), $"{account}@{stored.Version} was not published");
            }
        }
    }

    /// <summary>Checks that the dead letters are exactly the bad records.</summary>
    private void CheckDeadLetters()
    {
        var letters = _platform.Brokers.Find(Topics.DeadLetters)![0].All
            .Select(letter => (
                Header(letter, DeadLetterPublisher.TopicHeader), Header(letter, DeadLetterPublisher.PartitionHeader),
                Header(letter, DeadLetterPublisher.OffsetHeader)))
            .Distinct().Count();
        ReferenceModel.Require(
            letters == _badRecords || (_requestsLost && letters < _badRecords),
            $"there are {letters} dead letters; {_badRecords} records were bad");
    }

    private static string Header(StoredRecord letter, string name) =>
        System.Text.Encoding.UTF8.GetString(letter.Headers.GetLastBytes(name));
}
