namespace Billing.Client;

/// <summary>What became of a new credit limit: <see cref="Applied"/>, <see cref="Rejected"/> or <see cref="Unknown"/>, and nothing
/// else.</summary>
public abstract record CreditLimitResult
{
    private CreditLimitResult(Guid id) => Id = id;

    /// <summary>The idempotency key of the change.</summary>
    public Guid Id { get; }

    /// <summary>The limit holds from <paramref name="Version"/> on.</summary>
    /// <param name="Id">The idempotency key.</param>
    /// <param name="Limit">What the account may owe at most.</param>
    /// <param name="Balance">What it owes; may be more than a lowered limit.</param>
    /// <param name="Version">The version of the account that records it.</param>
    public sealed record Applied(Guid Id, Amount Limit, Amount Balance, long Version) : CreditLimitResult(Id);

    /// <summary>Not set by this call: the request or its caller is at fault, and asking again in the same way ends the same.
    /// </summary>
    /// <param name="Id">The idempotency key.</param>
    /// <param name="Reason">Why.</param>
    /// <param name="Field">The field at fault; empty where none is.</param>
    /// <param name="Message">Why, for a person.</param>
    public sealed record Rejected(Guid Id, RejectionReason Reason, string Field, string Message) : CreditLimitResult(Id);

    /// <summary>Set or not, nobody here knows: ask again with the same id, which is safe.</summary>
    /// <param name="Id">The idempotency key.</param>
    /// <param name="Reason">The platform's constant, one of <see cref="Contracts.ErrorReasons"/>; empty where a connection
    /// failed.</param>
    /// <param name="Message">What happened, for a person.</param>
    /// <param name="RetryAfter">How long the platform wants to be left alone; null where it does not say.</param>
    public sealed record Unknown(Guid Id, string Reason, string Message, TimeSpan? RetryAfter = null) : CreditLimitResult(Id);
}
