using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Simulation.Books;
using Billing.Simulation.Callers;
using Billing.Simulation.Schedules;

namespace Billing.Simulation.Runs;

/// <content>Faults after which something is not as it was before: clocks, settings, what was restored, where shards
/// are.</content>
internal sealed partial class Run
{
    // By then every request has been answered that does not depend on the process that crashes.
    private static readonly TimeSpan CrashingUntil = TimeSpan.FromSeconds(30);

    // From then on nothing but that process is ill.
    private static readonly TimeSpan OthersFrom = Healed + TimeSpan.FromSeconds(3.5);

    // These last for longer than others, and are about other processes or all of them.
    private static readonly FaultKind[] LongFaults =
    [
        FaultKind.AccountDamagedForLong, FaultKind.ClockStep, FaultKind.Isolated, FaultKind.StoreRestored,
    ];

    private static readonly TimeSpan[] ClockSteps =
    [
        TimeSpan.FromSeconds(5), TimeSpan.FromSeconds(31), TimeSpan.FromMinutes(10),
        TimeSpan.FromHours(2), TimeSpan.FromDays(400),
    ];

    private readonly Dictionary<Fault, Action> _backups = [];

    // What has to be done before a fault happens.
    private void Prepare(Fault fault)
    {
        if (fault.Kind == FaultKind.StoreRestored)
        {
            _scheduler.After(
                TimeSpan.FromMilliseconds(Math.Max(0, fault.AtMs - fault.LastsMs)), null,
                () => _backups[fault] = _platform.Store.BackUp());
        }
    }

    private void InjectLasting(Fault fault, TimeSpan lasts)
    {
        var settings = _schedule.Settings;
        var (payments, store) = (fault.Target % settings.PaymentBackends, _platform.Store);
        var account = fault.Target == 2 ? Schedule.EmptiedAccount : fault.Target;
        var (shard, until) = (Shard.Of(Clients.Stream(account)), _scheduler.Now + lasts.Ticks);
        Action inject = fault.Kind switch
        {
            FaultKind.StoreBusy => () => store.Of(fault.Target).BusyUntil = until,
            FaultKind.StoreFailover => () => store.Of(fault.Target).FailOver(lasts),
            FaultKind.StoreRestored => () => Restore(fault, lasts),
            FaultKind.DatabaseClockOff => () => store.Of(fault.Target).ClockAhead = ClockStep(),
            FaultKind.ShardShuttled => () => store.Operator.Shuttle(shard, until),
            FaultKind.FrozenWhileMoved => () => FreezeWhileMoved(payments, shard, lasts),
            FaultKind.ClockOff => () => SetClock(fault.Target, lasts),
            FaultKind.BrokerClockOff => () => _platform.Brokers.ClockOff = (fault.Target, ClockStep()),
            FaultKind.SettingsChanged => ChangeSettings,
            FaultKind.CrashLoop => () =>
            {
                CrashAgainAndAgain(payments);
                _scheduler.At(OthersFrom.Ticks, new Due(null, () => CheckOthers(null)));
            }
            ,
            FaultKind.ProducerFatal => () => FailProducer(payments),
            _ => () => InjectIntoWebhooks(fault, lasts),
        };
        inject();
    }

    private TimeSpan ClockStep() => _dice.Pick(ClockSteps) * _dice.Pick([1, -1]);

    private void FreezeWhileMoved(int number, int shard, TimeSpan time)
    {
        FreezeAtStep(number, time);
        _platform.Store.Operator.Shuttle(shard, _scheduler.Now + time.Ticks);
    }

    // The clock is noticed at the start of a process: a running one follows the others.
    private void SetClock(int target, TimeSpan down)
    {
        var role = _dice.Pick([.. Platform.Roles.Where(role => _platform.CountOf(role) > 0)]);
        _platform.SetClock(role, target % _platform.CountOf(role), ClockStep(), down);
    }

    private void ChangeSettings()
    {
        var settings = _platform.Settings with
        {
            CreditLimit = _dice.Pick([20m, Settings.UsualCreditLimit, 300m]),
            BatchMax = _dice.Pick([1, 2, 1000]),
            InFlightMax = _dice.Pick([8, Settings.InFlightUsual]),
        };
        _model.Set(settings.OpeningLimits);
        _platform.Change(settings);
    }

    private void CrashAgainAndAgain(int number)
    {
        if (_scheduler.Now < CrashingUntil.Ticks)
        {
            _platform.CrashPayments(number, TimeSpan.FromMilliseconds(200));
            _scheduler.After(TimeSpan.FromMilliseconds(400) + _dice.UpTo(3000), null, () => CrashAgainAndAgain(number));
        }
    }

    // A request about accounts whose partitions other processes have had all the time must not be waiting all that
    // time.
    private void CheckOthers(HashSet<(Operation, string)>? waiting)
    {
        if (_schedule.Faults.Any(fault => LongFaults.Contains(fault.Kind)) || _requestsLost
            || _platform.Settings.InFlightMax < Settings.InFlightUsual)
        {
            return;
        }
        var open = new HashSet<(Operation, string)>();
        foreach (var operation in _clients.OpenWrites)
        {
            var owners = Clients.StreamsOf(operation).Select(OwnerOf).ToList();
            if (owners.TrueForAll(
                owner => _platform.Payments.Any(payments => payments.Node.Name == owner && payments.Node.IsAlive)))
            {
                open.Add((operation, string.Join(' ', owners)));
            }
        }
        waiting?.IntersectWith(open);
        waiting ??= open;
        if (_scheduler.Now >= CrashingUntil.Ticks)
        {
            ReferenceModel.Require(
                waiting.Count == 0,
                $"{waiting.Count} requests wait for processes that are well, while another one crashes again and "
                    + $"again: {Unrest()}");
            return;
        }
        _scheduler.After(TimeSpan.FromSeconds(1), null, () => CheckOthers(waiting));
    }

    private string? OwnerOf(string streamId)
    {
        var (type, account) = StreamId.Split(streamId)!.Value;
        var topic = Topics.AllPayments.Single(topic => topic.EndsWith('.' + type, StringComparison.Ordinal));
        var log = _platform.Brokers.Of(topic, System.Text.Encoding.UTF8.GetBytes(account));
        return _platform.Brokers.Group(Groups.Payments).OwnerOf(log.Partition)?.MemberId;
    }

    private void FailProducer(int number)
    {
        _platform.MayFail = true;
        _platform.Payments[number].Producer.Fail();
    }

    // The operator stops the backends, restores the databases, begins a new incarnation, and starts the backends.
    // Nobody knows any more what was answered meanwhile, so the clients of that time are gone, too; others come.
    private void Restore(Fault fault, TimeSpan lasts)
    {
        for (var number = 0; number < _platform.Payments.Count; number++)
        {
            _platform.CrashPayments(number, lasts);
            _platform.Payments[number].Node.Crash();
        }
        for (var number = 0; number < _platform.Balances.Count; number++)
        {
            _platform.CrashBalances(number, lasts);
            _platform.Balances[number].Node.Crash();
        }
        _platform.Store.Operator.StopAll();
        _backups[fault]();
        foreach (var database in _platform.Store.All)
        {
            database.AwayUntil = Math.Max(database.AwayUntil, _scheduler.Now + lasts.Ticks);
        }
        var frozenUntil = _clients.FrozenUntil;
        _world.Crash();
        if (_world.Failure is null)
        {
            (_world, _clients) = NewClients();
            _clients.FrozenUntil = frozenUntil;
        }
        var now = (int)(_scheduler.Now / TimeSpan.TicksPerMillisecond);
        foreach (var operation in _schedule.Operations.Where(operation => operation.AtMs > now))
        {
            _clients.Add(operation with { AtMs = operation.AtMs - now });
        }
    }
}
