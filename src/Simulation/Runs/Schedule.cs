using System.Globalization;
using Billing.Simulation.Services;

namespace Billing.Simulation.Runs;

/// <summary>What a client does.</summary>
internal enum OperationKind
{
    /// <summary>Pays, and goes on asking until it has an answer.</summary>
    Pay,

    /// <summary>Pays with the same request by two proxies at the same time.</summary>
    PayTwice,

    /// <summary>Pays with one transaction id for two accounts at the same time.</summary>
    PayTwoAccounts,

    /// <summary>Pays without waiting for the answer, and asks what became of it.</summary>
    PayAndLeave,

    /// <summary>Sets the account's credit limit.</summary>
    SetLimit,

    /// <summary>Asks for the balance, at least as new as what the client knows of.</summary>
    CheckBalance,
}

/// <summary>Something that a client does.</summary>
/// <param name="AtMs">When, in milliseconds from the start.</param>
/// <param name="Kind">What.</param>
/// <param name="Account">The number of the account.</param>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="Cents">The amount, or the limit.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="DeadlineMs">How long each try may take.</param>
/// <param name="Seed">For what else is left to chance.</param>
internal sealed record Operation(
    int AtMs, OperationKind Kind, int Account, Guid TransactionId, int Cents, string Currency, int DeadlineMs, int Seed)
{
    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{AtMs,6} ms  {Kind} account {Account}, {Cents / 100m} {Currency}, {TransactionId.ToString()[..8]}, deadline {DeadlineMs} ms");
}

/// <summary>What goes wrong.</summary>
internal enum FaultKind
{
    /// <summary>A proxy is killed, and started again after a while.</summary>
    CrashProxy,

    /// <summary>A payment backend is killed, and started again after a while.</summary>
    CrashPayments,

    /// <summary>A balance backend is killed, and started again after a while.</summary>
    CrashBalances,

    /// <summary>A payment backend is stopped in good order, and started again after a while.</summary>
    StopPayments,

    /// <summary>A balance backend is stopped in good order, and started again after a while.</summary>
    StopBalances,

    /// <summary>A payment backend does nothing for a while, and then goes on where it was.</summary>
    FreezePayments,

    /// <summary>A balance backend does nothing for a while, and then goes on where it was.</summary>
    FreezeBalances,

    /// <summary>A proxy does nothing for a while, and then goes on where it was.</summary>
    FreezeProxy,

    /// <summary>A partition of the payment backends moves.</summary>
    Rebalance,

    /// <summary>The group takes everything from a payment backend that has not been heard of.</summary>
    EvictPayments,

    /// <summary>No broker can be reached for a while.</summary>
    BrokersAway,

    /// <summary>Records and acknowledgements take long.</summary>
    BrokersSlow,

    /// <summary>A proxy's queue of unsent commands is full.</summary>
    ProxyQueueFull,

    /// <summary>A payment backend's queue of unsent events and replies is full.</summary>
    PaymentsQueueFull,

    /// <summary>The event topic loses its oldest records.</summary>
    EventsDeleted,

    /// <summary>A request topic is deleted and made again.</summary>
    RequestsStartAgain,

    /// <summary>Records come that no proxy would send.</summary>
    BadRecords,

    /// <summary>PostgreSQL cannot be reached.</summary>
    StoreAway,

    /// <summary>PostgreSQL takes no writes, as a replica does.</summary>
    StoreReadOnly,

    /// <summary>Connections break while PostgreSQL commits.</summary>
    StoreUnsure,

    /// <summary>PostgreSQL takes up to two seconds for everything.</summary>
    StoreSlow,
}

/// <summary>Something that goes wrong.</summary>
/// <param name="AtMs">When, in milliseconds from the start.</param>
/// <param name="LastsMs">For how long.</param>
/// <param name="Kind">What.</param>
/// <param name="Target">The number of what it happens to.</param>
internal sealed record Fault(int AtMs, int LastsMs, FaultKind Kind, int Target)
{
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{AtMs,6} ms  {Kind} {Target} for {LastsMs} ms");
}

/// <summary>What happens in a run, but for what the run's own dice decide.</summary>
/// <param name="Seed">The seed of those.</param>
/// <param name="Settings">The platform.</param>
/// <param name="Operations">What clients do.</param>
/// <param name="Faults">What goes wrong.</param>
internal sealed record Schedule(int Seed, Settings Settings, IReadOnlyList<Operation> Operations, IReadOnlyList<Fault> Faults)
{
    /// <summary>When the last operation and the last fault begin, at most.</summary>
    public const int BeginsMs = 10_000;

    /// <summary>Accounts at most; what uses one id for two of them also uses the account after its own.</summary>
    public const int AccountsMax = 5;

    private static readonly FaultKind[] Kinds = Enum.GetValues<FaultKind>();

    /// <summary>The schedule of a seed.</summary>
    public static Schedule Of(int seed)
    {
        var dice = new Dice(seed);
        var settings = Settings.Of(dice);
        var accounts = dice.Between(1, AccountsMax);
        var span = dice.Pick([500, 3000, BeginsMs]);
        var operations = Enumerable.Range(0, dice.Between(4, 40)).Select(_ => NewOperation(dice, accounts, span)).ToList();
        var faults = Enumerable.Range(0, dice.Between(0, 6)).Select(_ => NewFault(dice, span)).ToList();
        return new Schedule(seed, settings, [.. operations.OrderBy(o => o.AtMs)], [.. faults.OrderBy(f => f.AtMs)]);
    }

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

    private static Fault NewFault(Dice dice, int span) =>
        new(dice.Next(span), dice.Pick([50, 500, 2500, 6000]), dice.Pick(Kinds), dice.Next(3));
}
