using Billing.V1;

namespace Billing.Backends.Domain;

/// <summary>The state of one card account after one of its events, or before all of them.</summary>
/// <param name="Version">Number of its events so far; the version of the account's stream.</param>
/// <param name="Balance">What the account owes: what was charged without what was given back.</param>
/// <param name="CreditLimit">The most it may owe; zero as long as it has no currency.</param>
/// <param name="Currency">ISO 4217; null until the first accepted payment or limit fixes it.</param>
public sealed record Account(long Version, decimal Balance, decimal CreditLimit, string? Currency)
{
    /// <summary>What is on hold: authorised, and neither captured nor released.</summary>
    public decimal OnHold { get; init; }

    /// <summary>Whether it takes payments.</summary>
    public AccountStatus Status { get; init; } = AccountStatus.Open;

    /// <summary>The hash of its last event, which chains the next one; null if there is none, or where events are only
    /// read.</summary>
    public string? Head { get; init; }

    /// <summary>The number under which the event store holds it, 0 at first: higher after each move and each restore to
    /// an earlier time, after which versions are used again.</summary>
    public long Incarnation { get; init; }

    /// <summary>What its limit will be when its currency is known; null once it is.</summary>
    public OpeningLimits? Opening { get; init; }

    /// <summary>An account without events.</summary>
    /// <param name="limits">The limits of accounts for which none was set.</param>
    public static Account Opened(OpeningLimits limits) => new(0, 0, 0, null) { Opening = limits };

    /// <summary>What the account may still spend; never negative, even if the limit was lowered below the balance.
    /// </summary>
    public decimal Available => Math.Max(0, CreditLimit - Balance - OnHold);

    /// <summary>The account after one more event.</summary>
    public Account Apply(AccountEvent fact) => fact.ApplyTo(this);

    /// <summary>Why the account cannot be charged, now or later; null if it can.</summary>
    internal DeclineReason? Objection(decimal amount, string currency) =>
        Status == AccountStatus.Frozen ? DeclineReason.AccountFrozen
        : Status == AccountStatus.Closed ? DeclineReason.AccountClosed
        : Currency is { } kept && kept != currency ? DeclineReason.CurrencyMismatch
        : amount > LimitIn(currency) - Balance - OnHold ? DeclineReason.CreditLimitExceeded
        : null;

    /// <summary>The most that it may owe, if it is or will be kept in a currency.</summary>
    internal decimal LimitIn(string currency) => Opening?.In(currency) ?? CreditLimit;

    /// <summary>The account after another event, with the changed amounts.</summary>
    internal Account Next(string? currency, decimal charged = 0, decimal held = 0) =>
        (currency is null ? this : KeptIn(currency)) with
        {
            Version = Version + 1,
            Balance = Balance + charged,
            OnHold = OnHold + held,
            Head = null,
        };

    // The first currency stays.
    private Account KeptIn(string currency) => Currency is not null ? this
        : this with { Currency = currency, CreditLimit = LimitIn(currency), Opening = null };
}
