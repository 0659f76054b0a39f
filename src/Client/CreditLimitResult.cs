namespace Billing.Client;

/// <summary>The outcome of a new credit limit: always one of <see cref="Applied"/>, <see cref="Rejected"/> and
/// <see cref="Unknown"/>.</summary>
public abstract record CreditLimitResult
{
    private CreditLimitResult(Guid id) => Id = id;

    /// <summary>The idempotency key of the change.</summary>
    public Guid Id { get; }

    /// <summary>The limit is in force from <paramref name="Version"/> on.</summary>
    /// <param name="Id">The idempotency key.</param>
    /// <param name="Limit">The maximum balance.</param>
    /// <param name="Balance">The account's balance; may exceed a lowered limit.</param>
    /// <param name="Version">The version of the account that records the change.</param>
    public sealed record Applied(Guid Id, Amount Limit, Amount Balance, long Version) : CreditLimitResult(Id);

    /// <summary>Not set by this call: the request is invalid or the caller has no permission; a retry of the same request gets
    /// the same result.</summary>
    /// <param name="Id">The idempotency key.</param>
    /// <param name="Reason">The reason.</param>
    /// <param name="Field">The invalid field; empty if there is none.</param>
    /// <param name="Message">The reason as text.</param>
    public sealed record Rejected(Guid Id, RejectionReason Reason, string Field, string Message) : CreditLimitResult(Id);

    /// <summary>The client does not know whether the limit was set: retry with the same id, which is safe.</summary>
    /// <param name="Id">The idempotency key.</param>
    /// <param name="Reason">The platform's reason code, one of <see cref="Contracts.ErrorReasons"/>; empty if a connection
    /// failed.</param>
    /// <param name="Message">The failure as text.</param>
    /// <param name="RetryAfter">The platform's requested delay before a retry; null if it sent none.</param>
    public sealed record Unknown(Guid Id, string Reason, string Message, TimeSpan? RetryAfter = null) : CreditLimitResult(Id);
}
