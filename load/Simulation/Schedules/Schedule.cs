using System.Globalization;

namespace Billing.Simulation.Schedules;

/// <summary>What a client does.</summary>
internal enum OperationKind
{
    /// <summary>Pays, and retries until it has an answer.</summary>
    Pay,

    /// <summary>Sends the same payment to two proxies at the same time.</summary>
    PayTwice,

    /// <summary>Uses one transaction id for payments of two accounts at the same time.</summary>
    PayTwoAccounts,

    /// <summary>Pays without waiting for the answer, and asks for the payment's status.</summary>
    PayAndLeave,

    /// <summary>Makes three payments of one account through one proxy, without waiting for answers in between.</summary>
    PayInTurn,

    /// <summary>Sets the account's credit limit.</summary>
    SetLimit,

    /// <summary>Asks for the balance, usually with the newest version that the client knows as min_version.</summary>
    CheckBalance,

    /// <summary>Makes several requests under one id that differ in amount, notes or kind.</summary>
    PayDiffering,

    /// <summary>Makes so many payments that the account has hundreds of events.</summary>
    PayMany,

    /// <summary>Reads a statement and balances of the past.</summary>
    ReadPast,
    /// <summary>Pays, gives all of it back, and closes the account, which must then be empty, with some time in between.</summary>
    EmptyAndClose,
}

/// <summary>An operation of a client.</summary>
/// <param name="AtMs">When it starts, in milliseconds from the start of the run.</param>
/// <param name="Kind">What it does.</param>
/// <param name="Account">The number of the account.</param>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="Cents">The amount, or the limit.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="DeadlineMs">The deadline of the first attempt, in milliseconds; each retry doubles it.</param>
/// <param name="Seed">The seed of its other random choices.</param>
internal sealed record Operation(
    int AtMs, OperationKind Kind, int Account, Guid TransactionId, int Cents, string Currency, int DeadlineMs, int Seed)
{
    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{AtMs,6} ms  {Kind} account {Account}, {Cents / 100m} {Currency}, {TransactionId.ToString()[..8]}, deadline {DeadlineMs} ms");
}

/// <summary>The kind of a fault.</summary>
internal enum FaultKind
{
    /// <summary>A proxy is killed, and restarted after a while.</summary>
    CrashProxy,

    /// <summary>A payment backend is killed, and restarted after a while.</summary>
    CrashPayments,

    /// <summary>A balance backend is killed, and restarted after a while.</summary>
    CrashBalances,

    /// <summary>A payment backend is shut down gracefully, and restarted after a while.</summary>
    StopPayments,

    /// <summary>A balance backend is shut down gracefully, and restarted after a while.</summary>
    StopBalances,

    /// <summary>A payment backend is suspended for a while, and then continues.</summary>
    FreezePayments,

    /// <summary>A balance backend is suspended for a while, and then continues.</summary>
    FreezeBalances,

    /// <summary>A proxy is suspended for a while, and then continues.</summary>
    FreezeProxy,

    /// <summary>A partition of the payment backends is revoked from its owner.</summary>
    Rebalance,

    /// <summary>The group takes all partitions from a payment backend, as after missing heartbeats.</summary>
    EvictPayments,

    /// <summary>No broker can be reached for a while.</summary>
    BrokersAway,

    /// <summary>Records and acknowledgements have a high latency.</summary>
    BrokersSlow,

    /// <summary>A proxy's queue of unsent commands is full.</summary>
    ProxyQueueFull,

    /// <summary>A payment backend's queue of unsent events and replies is full.</summary>
    PaymentsQueueFull,

    /// <summary>The event topic loses its oldest records.</summary>
    EventsDeleted,

    /// <summary>A partition of a request topic starts again at offset 0, as if the topic had been deleted and recreated.</summary>
    RequestsStartAgain,

    /// <summary>Records are appended that no proxy would send.</summary>
    BadRecords,

    /// <summary>PostgreSQL cannot be reached.</summary>
    StoreAway,

    /// <summary>PostgreSQL refuses writes, as a replica does.</summary>
    StoreReadOnly,

    /// <summary>Connections may break before or after PostgreSQL has committed.</summary>
    StoreUnsure,

    /// <summary>PostgreSQL takes up to two seconds for every request.</summary>
    StoreSlow,

    /// <summary>Commits stall: their connections break, and seconds later they take effect or are rolled back. Until then they hold
    /// their locks.</summary>
    CommitsStall,

    /// <summary>The disk is damaged under the events of one account.</summary>
    AccountDamaged,

    /// <summary>As before, until long after all other faults are over: the other accounts must not wait for that.</summary>
    AccountDamagedForLong,

    /// <summary>The disk is damaged under a part of the receipts.</summary>
    ReceiptsDamaged,

    /// <summary>Half of the requests to PostgreSQL fail because of what others do: deadlocks, too many connections, a full disk.</summary>
    StoreBusy,

    /// <summary>A standby takes over: what was acknowledged is there, and of what was not a part.</summary>
    StoreFailover,

    /// <summary>All databases are restored to an earlier time, as long before as the fault lasts; what was acknowledged since is lost, and its versions are
    /// used again.</summary>
    StoreRestored,

    /// <summary>The clock of a database is wrong for the rest of the run.</summary>
    DatabaseClockOff,

    /// <summary>The shard of an account is moved to and fro.</summary>
    ShardShuttled,

    /// <summary>A payment backend is suspended between some two of its awaits while a shard is moved to and fro.</summary>
    FrozenWhileMoved,

    /// <summary>The clock of the machine of some process is wrong for the rest of the run.</summary>
    ClockOff,

    /// <summary>The clock of the broker that leads one partition of each topic is wrong for the rest of the run.</summary>
    BrokerClockOff,

    /// <summary>Settings of the backends are changed, and they are restarted one after the other.</summary>
    SettingsChanged,

    /// <summary>A payment backend crashes again and again soon after its start, long after all other faults are over.</summary>
    CrashLoop,

    /// <summary>A producer of a payment backend fails for good.</summary>
    ProducerFatal,

    /// <summary>A payment backend is an older release, which does not know one type of events, until it is upgraded.</summary>
    OlderRelease,

    /// <summary>A payment backend cannot reach PostgreSQL, and answers that were under way are lost.</summary>
    CutFromStore,

    /// <summary>A payment backend cannot reach the brokers, and does not learn that it loses its partitions.</summary>
    CutFromBrokers,

    /// <summary>The connection between a payment backend and the brokers comes and goes.</summary>
    FlappingFromBrokers,

    /// <summary>A payment backend is cut off from the brokers for ever, if there is another one; it still reaches PostgreSQL.</summary>
    Isolated,

    /// <summary>A proxy cannot reach the brokers: acknowledgements that were under way arrive late or never.</summary>
    CutProxy,

    /// <summary>A payment backend is suspended between some two of its awaits.</summary>
    FreezeAtStep,

    /// <summary>The machine of a payment backend is paused: its monotonic clock does not count that.</summary>
    MachinePaused,

    /// <summary>The wall clock of a payment backend is set by an hour, and back later.</summary>
    ClockStep,

    /// <summary>A request topic gets another partition.</summary>
    PartitionAdded,

    /// <summary>The leader of one partition of each topic answers slowly.</summary>
    LeaderSlow,

    /// <summary>The reply topic of a proxy cannot be written to.</summary>
    RepliesStuck,

    /// <summary>A topic of payments is deleted and created again while no payment backend runs.</summary>
    PaymentsMadeAgainUnseen,

    /// <summary>The group of the payment backends loses its offsets while none of them runs.</summary>
    OffsetsLost,

    /// <summary>The offsets of the group of the payment backends go back while none of them runs.</summary>
    OffsetsBack,

    /// <summary>The offsets of the group of the payment backends are past the ends of the logs while none of them runs.</summary>
    OffsetsPastEnd,

    /// <summary>A broker without the newest records of a topic of payments becomes its leader.</summary>
    PaymentsTruncated,

    /// <summary>As before, while no payment backend runs.</summary>
    PaymentsTruncatedUnseen,
}

/// <summary>A fault.</summary>
/// <param name="AtMs">When it starts, in milliseconds from the start of the run.</param>
/// <param name="LastsMs">How long it lasts, in milliseconds.</param>
/// <param name="Kind">What it does.</param>
/// <param name="Target">The number of the process that it affects.</param>
internal sealed record Fault(int AtMs, int LastsMs, FaultKind Kind, int Target)
{
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{AtMs,6} ms  {Kind} {Target} for {LastsMs} ms");
}

/// <summary>The schedule of a run; everything else is determined by the run's own dice.</summary>
internal sealed partial record Schedule(int Seed, Settings Settings, IReadOnlyList<Operation> Operations, IReadOnlyList<Fault> Faults)
{
    /// <summary>All operations and faults start before this time, in milliseconds from the start of the run.</summary>
    public const int BeginsMs = 10_000;

    /// <summary>The most accounts of a schedule; an operation on two accounts also uses the account after its own.</summary>
    public const int AccountsMax = 5;

    /// <summary>The account that is emptied and closed, of which nobody else makes use.</summary>
    public const int EmptiedAccount = AccountsMax + 1;

    // Of every request that is not waited for, so many expire before they are recorded: their ids are closed.
    private const int ExpiringMs = 20;

    // So far apart that one ends before the next begins.
    private const int EmptyingMs = 2500;
    private const int EmptyingMax = 3;

    private static readonly FaultKind[] Kinds = Enum.GetValues<FaultKind>();
    private static readonly FaultKind[] FirstKinds = [.. Kinds.TakeWhile(kind => kind <= FaultKind.StoreSlow)];

    /// <summary>Creates the schedule of a seed. In every second one of those with faults, at least two overlap.</summary>
    public static Schedule Of(int seed)
    {
        var dice = new Dice(seed);
        var schedule = Of(seed, dice, Kinds, inTurn: 0.1);
        var faults = schedule.Faults.ToList();
        if (faults.Count > 0 && dice.Chance(0.5))
        {
            var first = faults[0];
            var next = NewFault(dice, first.LastsMs, Kinds);
            faults.Add(next with { AtMs = Math.Min(first.AtMs + next.AtMs, BeginsMs - 1) });
        }
        faults = [.. Possible(faults)];
        var settings = schedule.Settings with
        {
            ClockSkewMs = dice.Pick([0, 0, 500, 2000]),
            IsSteady = faults.Exists(f => f.Kind is FaultKind.ClockStep or FaultKind.MachinePaused || IsClockOff(f.Kind)),
        };
        var many = settings is { InFlightMax: Settings.InFlightUsual, Jitter: false } && dice.Chance(0.03);
        var operations = schedule.Operations
            .Select(o => o.Kind is OperationKind.PayInTurn ? o : o with { Kind = Changed(o.Kind, dice, many) })
            .Select(o => Lasting(o, dice)).ToList();
        switch (dice.Next(12))
        {
            case 0:
                // Most ids are closed, in all databases.
                operations = operations.ConvertAll(o => o.Kind == OperationKind.Pay ? o with { Kind = OperationKind.PayAndLeave, DeadlineMs = ExpiringMs } : o);
                break;
            case 1:
                // An account is emptied and closed again and again while its shard moves.
                operations = [.. operations.Select((o, i) => i < EmptyingMax ? Emptying(o) with { AtMs = i * EmptyingMs } : o).OrderBy(o => o.AtMs)];
                faults.Add(new Fault(0, EmptyingMax * EmptyingMs, FaultKind.ShardShuttled, 2));
                break;
        }
        return schedule with { Settings = settings, Operations = operations, Faults = [.. faults.OrderBy(f => f.AtMs)] };
    }

    /// <summary>Creates the schedule that a seed had before there were the faults after <see cref="FaultKind.StoreSlow"/>: those that once
    /// failed can be tried again.</summary>
    public static Schedule FirstForm(int seed) => Of(seed, new Dice(seed), FirstKinds, inTurn: 0);

    // The clock of any one machine may be wrong for good: of two, nobody could tell which is right. The databases are restored once: a second
    // backup may be of what the first restore took back.
    private static IEnumerable<Fault> Possible(IReadOnlyCollection<Fault> faults) =>
        faults.GroupBy(fault => IsClockOff(fault.Kind) ? FaultKind.ClockOff : fault.Kind)
            .SelectMany(same => same.Take(same.Key is FaultKind.ClockOff or FaultKind.StoreRestored ? 1 : int.MaxValue));

    private static bool IsClockOff(FaultKind kind) => kind is FaultKind.ClockOff or FaultKind.BrokerClockOff or FaultKind.DatabaseClockOff;

    private static OperationKind Changed(OperationKind kind, Dice dice, bool many) => kind switch
    {
        OperationKind.Pay when dice.Chance(0.2) => OperationKind.PayDiffering,
        OperationKind.Pay when many && dice.Chance(0.3) => OperationKind.PayMany,
        OperationKind.CheckBalance when dice.Chance(0.4) => OperationKind.ReadPast,
        _ => kind,
    };

    private static Schedule Of(int seed, Dice dice, FaultKind[] kinds, double inTurn)
    {
        var settings = Settings.Of(dice);
        var accounts = dice.Between(1, AccountsMax);
        var span = dice.Pick([500, 3000, BeginsMs]);
        var operations = Enumerable.Range(0, dice.Between(4, 40)).Select(_ => NewOperation(dice, accounts, span)).ToList();
        var faults = Enumerable.Range(0, dice.Between(0, 6)).Select(_ => NewFault(dice, span, kinds)).ToList();
        if (inTurn > 0)
        {
            operations = operations.ConvertAll(o => dice.Chance(inTurn) ? o with { Kind = OperationKind.PayInTurn } : o);
        }
        return new Schedule(seed, settings, [.. operations.OrderBy(o => o.AtMs)], [.. faults.OrderBy(f => f.AtMs)]);
    }

    private static Operation Lasting(Operation operation, Dice dice) => dice.Next(20) switch
    {
        0 => Emptying(operation),
        < 8 when operation.Kind == OperationKind.PayAndLeave => operation with { DeadlineMs = ExpiringMs },
        _ => operation,
    };

    private static Operation Emptying(Operation operation) =>
        operation with { Kind = OperationKind.EmptyAndClose, Account = EmptiedAccount, Currency = "USD" };

    private static Operation NewOperation(Dice dice, int accounts, int span) => new(
        dice.Next(span), Kind(dice), dice.Next(accounts), dice.Id(), dice.Between(1, 4000), dice.Chance(0.9) ? "USD" : "EUR",
        dice.Pick([300, 2000, 5000]), dice.Seed());

    private static OperationKind Kind(Dice dice) => dice.Next(20) switch
    {
        < 7 => OperationKind.Pay,
        < 9 => OperationKind.PayAndLeave,
        < 11 => OperationKind.PayTwice,
        < 12 => OperationKind.PayTwoAccounts,
        < 14 => OperationKind.SetLimit,
        _ => OperationKind.CheckBalance,
    };

    private static Fault NewFault(Dice dice, int span, FaultKind[] kinds) =>
        new(dice.Next(span), dice.Pick([50, 500, 2500, 6000]), dice.Pick(kinds), dice.Next(3));
}
