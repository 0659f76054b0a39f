using Billing.Contracts;
using Billing.V1;

namespace Billing.Backends.Domain;

/// <summary>A command to change an account.</summary>
/// <param name="TransactionId">The idempotency key.</param>
public abstract record AccountCommand(Guid TransactionId)
{
    /// <summary>Who sent it; recorded with the event. Null if that is not known.</summary>
    public Sender? By { get; init; }

    /// <summary>What its sender keeps with it; recorded with the event. Null for nothing.</summary>
    public Notes? Notes { get; init; }

    /// <summary>The id of its trace if it is traced; recorded with the event.</summary>
    public abstract string? TraceId { get; init; }

    /// <summary>The payment that it follows up; null if it follows up none.</summary>
    public virtual Guid? PaymentId => null;

    /// <summary>The command without what two copies of one request may differ in:
    /// who sent it, when, and in which trace.</summary>
    protected virtual AccountCommand Contents => this with { By = null, TraceId = null };

    /// <summary>Whether another command under the same idempotency key asks for the same.</summary>
    public bool IsCopyOf(AccountCommand other) => Contents.Equals(other.Contents);

    /// <summary>Decides the command. The result depends only on the arguments and the command.</summary>
    /// <param name="account">The account before it.</param>
    /// <param name="payment">The payment that it follows up; null if the account has no such payment,
    /// or it follows up none.</param>
    /// <param name="now">The time.</param>
    public abstract Decision Decide(Account account, PaymentState? payment, DateTimeOffset now);

    /// <summary>What is on hold, as an event states it.</summary>
    protected static decimal? Stated(decimal onHold) => onHold == 0 ? null : onHold;

    /// <summary>The account's status, as an event states it.</summary>
    protected static AccountStatus? Stated(AccountStatus status) => status == AccountStatus.Open ? null : status;
}
