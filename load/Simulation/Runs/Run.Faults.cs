using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Simulation.Books;
using Billing.Simulation.Callers;
using Billing.Simulation.Kafka;
using Billing.Simulation.Schedules;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Simulation.Runs;

/// <content>Faults that are over after a while.</content>
internal sealed partial class Run
{
    private void Inject(Fault fault)
    {
        _trace.Write("fault", fault.ToString());
        var lasts = TimeSpan.FromMilliseconds(fault.LastsMs);
        var until = _scheduler.Now + lasts.Ticks;
        var (brokers, settings) = (_platform.Brokers, _schedule.Settings);
        var (proxy, payments, balances) =
            (fault.Target % settings.Proxies, fault.Target % settings.PaymentBackends,
                fault.Target % settings.BalanceBackends);
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
            FaultKind.EventsDeleted => () => DeleteEvents(balances, lasts),
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
            FaultKind.CutFromBrokers =>
                () => _platform.CutFromBrokers(_platform.Payments[payments].Node, lasts, TimeSpan.Zero),
            FaultKind.FlappingFromBrokers => () => _platform.CutFromBrokers(
                _platform.Payments[payments].Node, lasts, _dice.UpTo(1000) + TimeSpan.FromMilliseconds(50)),
            FaultKind.Isolated => () => _platform.Isolate(_platform.Payments[payments].Node, lasts),
            FaultKind.CutProxy => () => _platform.CutFromBrokers(_platform.Proxies[proxy].Node, lasts, TimeSpan.Zero),
            FaultKind.FreezeAtStep => () => FreezeAtStep(payments, lasts),
            FaultKind.MachinePaused => () => _platform.PauseMachine(_platform.Payments[payments].Node, lasts),
            FaultKind.ClockStep => () => _platform.StepClock(_platform.Payments[payments].Node, lasts),
            FaultKind.PartitionAdded => () => brokers.AddPartition(_dice.Pick(Topics.AllRequests)),
            FaultKind.LeaderSlow => () => brokers.Slow = (fault.Target, until),
            FaultKind.RepliesStuck => () => brokers.Stuck = (_platform.Proxies[proxy].ReplyTopic, until),
            FaultKind.PaymentsMadeAgainUnseen => () => Unseen(lasts, MakePaymentsAgain),
            FaultKind.OffsetsLost => () => Unseen(lasts, () => ChangePaymentOffsets(LoseOffset)),
            FaultKind.OffsetsBack => () => Unseen(lasts, () => ChangePaymentOffsets(MoveOffsetBack)),
            FaultKind.OffsetsPastEnd => () => Unseen(lasts, () => ChangePaymentOffsets(MoveOffsetPastEnd)),
            FaultKind.PaymentsTruncated => TruncatePayments,
            FaultKind.PaymentsTruncatedUnseen => () => Unseen(lasts, TruncatePayments),
            _ => () => InjectLasting(fault, lasts),
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
        _scheduler.At(DamagedUntil.Ticks, new Due(null, () =>
        {
            // The commands of the account fill a backend that takes few; the settings may have changed meanwhile.
            ReferenceModel.Require(
                _platform.Settings.InFlightMax < Settings.InFlightUsual
                    || !_clients.IsOpen(except: _platform.Store.All[0].Damaged.StreamId),
                "other accounts wait for one under which the disk is damaged: " + Unrest());
        }));
    }

    private void FillPaymentsQueue(int number, long until)
    {
        if (_dice.Next(2) == 0)
        {
            _platform.Payments[number].Replies.FullUntil = until;
            return;
        }
        _platform.MayFail = true;
        _platform.Payments[number].Producer.FullUntil = until;
    }

    private void SlowBrokers(long until)
    {
        _platform.Brokers.LatencyMs = 300;
        _scheduler.At(until, new Due(null, () => _platform.Brokers.LatencyMs = _schedule.Settings.LatencyMs));
    }

    // While a balance backend is frozen, so that some may be deleted that it has not read.
    private void DeleteEvents(int balances, TimeSpan lasts)
    {
        _platform.Freeze(_platform.Balances[balances].Node, lasts);
        _scheduler.At(_scheduler.Now + _dice.UpTo(lasts.TotalMilliseconds).Ticks, new Due(null, () =>
        {
            foreach (var log in _platform.Brokers.Find(Topics.Events)!)
            {
                log.DeleteBefore(log.End - _dice.Next(3));
            }
        }));
    }

    private void StartRequestsAgain()
    {
        _requestsLost = true;
        _platform.Brokers.MakeAgain(
            _dice.Pick(_platform.Brokers.Find(_dice.Pick(Topics.AllRequests))!).Partition.Topic);
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

    private void ChangePaymentOffsets(Action<Group, Log> change) =>
        ChangeOffsets(Groups.Payments, Topics.AllPayments, change);

    private static void LoseOffset(Group group, Log log) => group.Uncommit(log.Partition);

    private void MoveOffsetBack(Group group, Log log) => group.TakeBack(log.Partition, _dice.Between(1, 20));

    private static void MoveOffsetPastEnd(Group group, Log log) =>
        group.Commit(new Confluent.Kafka.TopicPartitionOffset(log.Partition, log.End + 1000));

    private void ChangeOffsets(string name, IEnumerable<string> topics, Action<Group, Log> change)
    {
        var group = _platform.Brokers.Group(name);
        foreach (var log in topics.SelectMany(topic => _platform.Brokers.Find(topic)!)
            .Where(log => group.Committed.ContainsKey(log.Partition)))
        {
            change(group, log);
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
}
