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

    /// <summary>Makes three payments of one account through one proxy, without waiting for
    /// answers in between.</summary>
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
    /// <summary>Pays, gives all of it back, and closes the account, which must then be empty,
    /// with some time in between.</summary>
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
        $"{AtMs,6} ms  {Kind} account {Account}, {Cents / 100m} {Currency}, {TransactionId.ToString()[..8]}, "
            + $"deadline {DeadlineMs} ms");
}

/// <summary>The schedule of a run; everything else is determined by the run's own dice.</summary>
internal sealed partial record Schedule(
    int Seed, Settings Settings, IReadOnlyList<Operation> Operations, IReadOnlyList<Fault> Faults)
{
    /// <summary>All operations and faults start before this time, in milliseconds from the start of the run.</summary>
    public const int BeginsMs = 10_000;

    /// <summary>The most accounts of a schedule; an operation on two accounts also uses the
    /// account after its own.</summary>
    public const int AccountsMax = 5;

    /// <summary>The account that is emptied and closed, of which nobody else makes use.</summary>
    public const int EmptiedAccount = AccountsMax + 1;

    // Of every request that is not waited for, so many expire before they are recorded: their ids are closed.
    private const int ExpiringMs = 20;

    private const double InTurnShare = 0.1;

    // So far apart that one ends before the next begins.
    private const int EmptyingMs = 2500;
    private const int EmptyingMax = 3;

    private static readonly FaultKind[] Kinds =
    [
        .. Enum.GetValues<FaultKind>().TakeWhile(kind => kind < FaultKind.CrashWebhooks),
    ];
    private static readonly FaultKind[] WebhookKinds =
    [
        .. Enum.GetValues<FaultKind>().SkipWhile(kind => kind < FaultKind.CrashWebhooks),
    ];

    /// <summary>Creates the schedule of a seed. In every second one of those with faults, at least two overlap;
    /// every third has webhook services.</summary>
    public static Schedule Of(int seed)
    {
        var dice = new Dice(seed);
        return WithWebhooks(WithOverlaps(Basic(seed, dice), dice), dice);
    }

    private static Schedule WithWebhooks(Schedule schedule, Dice dice)
    {
        var services = dice.Pick([0, 0, 0, 0, 1, 2]);
        if (services == 0)
        {
            return schedule;
        }
        var faults = Enumerable.Range(0, dice.Between(0, 4))
            .Select(_ => NewFault(dice, BeginsMs, WebhookKinds)).ToList();
        return schedule with
        {
            Settings = schedule.Settings with
            {
                WebhookServices = services,
                IsSteady = schedule.Settings.IsSteady || faults.Exists(fault => fault.Kind == FaultKind.PauseWebhooks),
            },
            Faults = [.. schedule.Faults.Concat(faults).OrderBy(fault => fault.AtMs)],
        };
    }

    private static Schedule WithOverlaps(Schedule schedule, Dice dice)
    {
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
            IsSteady = faults.Exists(
                f => f.Kind is FaultKind.ClockStep or FaultKind.MachinePaused || IsClockOff(f.Kind)),
        };
        var many = settings is { InFlightMax: Settings.InFlightUsual, Jitter: false } && dice.Chance(0.03);
        var operations = schedule.Operations
            .Select(o => o.Kind is OperationKind.PayInTurn ? o : o with { Kind = Changed(o.Kind, dice, many) })
            .Select(o => Lasting(o, dice)).ToList();
        switch (dice.Next(12))
        {
            case 0:
                // Most ids are closed, in all databases.
                operations = operations.ConvertAll(o => o.Kind == OperationKind.Pay
                    ? o with { Kind = OperationKind.PayAndLeave, DeadlineMs = ExpiringMs }
                    : o);
                break;
            case 1:
                // An account is emptied and closed again and again while its shard moves.
                operations =
                [
                    .. operations.Select((o, i) => i < EmptyingMax ? Emptying(o) with { AtMs = i * EmptyingMs } : o)
                        .OrderBy(o => o.AtMs),
                ];
                faults.Add(new Fault(0, EmptyingMax * EmptyingMs, FaultKind.ShardShuttled, 2));
                break;
        }
        return schedule with
        {
            Settings = settings,
            Operations = operations,
            Faults = [.. faults.OrderBy(f => f.AtMs)],
        };
    }

    // The clock of any one machine may be wrong for good: of two, nobody could tell which is right.
    // The databases are restored once: a second backup may be of what the first restore took back.
    private static IEnumerable<Fault> Possible(IReadOnlyCollection<Fault> faults) =>
        faults.GroupBy(fault => IsClockOff(fault.Kind) ? FaultKind.ClockOff : fault.Kind)
            .SelectMany(
                same => same.Take(same.Key is FaultKind.ClockOff or FaultKind.StoreRestored ? 1 : int.MaxValue));

    private static bool IsClockOff(FaultKind kind) =>
        kind is FaultKind.ClockOff or FaultKind.BrokerClockOff or FaultKind.DatabaseClockOff;

    private static OperationKind Changed(OperationKind kind, Dice dice, bool many) => kind switch
    {
        OperationKind.Pay when dice.Chance(0.2) => OperationKind.PayDiffering,
        OperationKind.Pay when many && dice.Chance(0.3) => OperationKind.PayMany,
        OperationKind.CheckBalance when dice.Chance(0.4) => OperationKind.ReadPast,
        _ => kind,
    };

    private static Schedule Basic(int seed, Dice dice)
    {
        var settings = Settings.Of(dice);
        var accounts = dice.Between(1, AccountsMax);
        var span = dice.Pick([500, 3000, BeginsMs]);
        var operations = Enumerable.Range(0, dice.Between(4, 40))
            .Select(_ => NewOperation(dice, accounts, span)).ToList();
        var faults = Enumerable.Range(0, dice.Between(0, 6)).Select(_ => NewFault(dice, span, Kinds)).ToList();
        operations = operations.ConvertAll(
            o => dice.Chance(InTurnShare) ? o with { Kind = OperationKind.PayInTurn } : o);
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
        dice.Next(span), Kind(dice), dice.Next(accounts), dice.Id(), dice.Between(1, 4000),
        dice.Chance(0.9) ? "USD" : "EUR", dice.Pick([300, 2000, 5000]), dice.Seed());

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
