using Billing.Contracts;
using Billing.V1;

namespace Billing.Backends.Domain;

/// <summary>A fact about one account, with what the account is like after it. Facts are never changed.</summary>
public abstract record AccountEvent
{
    /// <summary>The idempotency key of the command that caused it.</summary>
    public abstract Guid TransactionId { get; init; }

    /// <summary>When it was decided.</summary>
    public abstract DateTimeOffset DecidedAt { get; init; }

    /// <summary>The id of its trace; null if it is not traced.</summary>
    public abstract string? TraceId { get; init; }

    /// <summary>What the account owes after it, by which a repeated command is answered.</summary>
    public required decimal Balance { get; init; }

    /// <summary>What is on hold on the account after it; null if nothing is.</summary>
    public decimal? OnHold { get; init; }

    /// <summary>The status of the account after it; null if it is open.</summary>
    public AccountStatus? Status { get; init; }

    /// <summary>Who sent the command that it records; null if that is not known.</summary>
    public Sender? By { get; init; }

    /// <summary>What that sender keeps with it; null for nothing.</summary>
    public Notes? Notes { get; init; }

    /// <summary>The number under which the event store held the account when it was recorded; null for the first
    /// (<see cref="Account.Incarnation"/>).</summary>
    public long? Incarnation { get; init; }

    /// <summary>The currency that the account is kept in after it; null if none is fixed yet.</summary>
    internal abstract string? AccountCurrency { get; }

    /// <summary>The status of the account after it, also if it is open.</summary>
    internal AccountStatus AccountStatus => Status ?? AccountStatus.Open;

    /// <summary>The account after it, as it states it.</summary>
    /// <param name="version">Its version.</param>
    /// <param name="creditLimit">The limit that it, or an event between the two, has set; null for the one before.
    /// </param>
    /// <param name="before">The account before it, or before all events.</param>
    internal Account Stated(long version, decimal? creditLimit, Account before)
    {
        var after = before.Next(AccountCurrency);
        return after with
        {
            Version = version,
            Balance = Balance,
            CreditLimit = creditLimit ?? after.CreditLimit,
            OnHold = OnHold ?? 0,
            Status = AccountStatus,
        };
    }

    /// <summary>When the hold that it opens is over; null if it opens none.</summary>
    internal virtual DateTimeOffset? HoldUntil => null;

    /// <summary>The payment whose hold it ends; null if it ends none.</summary>
    internal virtual Guid? EndsHoldOf => null;

    /// <summary>The account after this event.</summary>
    internal abstract Account ApplyTo(Account account);
}
