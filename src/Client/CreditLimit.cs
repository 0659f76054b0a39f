using Billing.Contracts;
using Billing.V1;

namespace Billing.Client;

/// <summary>A new credit limit for an account. Its id makes it safe to retry, as with a payment.</summary>
public sealed record CreditLimit
{
    /// <summary>Creates a new limit with a new id.</summary>
    /// <exception cref="ArgumentException">See the other constructor.</exception>
    public CreditLimit(CardAccount account, Amount limit)
        : this(OrderedId.New(), account, limit)
    {
    }

    /// <summary>Creates a limit with an existing id.</summary>
    /// <param name="id">The idempotency key; not empty.</param>
    /// <param name="account">The account.</param>
    /// <param name="limit">The maximum balance: zero or more.</param>
    /// <exception cref="ArgumentException">The id is empty, or the limit is negative.</exception>
    public CreditLimit(Guid id, CardAccount account, Amount limit)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentNullException.ThrowIfNull(limit);
        Id = id;
        Account = account;
        Limit = limit;
        Message = new SetCreditLimitRequest
        {
            TransactionId = id.ToString(),
            AccountId = account.Id,
            PaymentType = account.Type,
            Limit = limit.ToMoney(),
        };
        if (FieldRules.Check(Message) is { } violation)
        {
            throw new ArgumentException(violation.ToString(), violation.Field == "transaction_id" ? nameof(id) : nameof(limit));
        }
    }

    /// <summary>The idempotency key.</summary>
    public Guid Id { get; }

    /// <summary>The account.</summary>
    public CardAccount Account { get; }

    /// <summary>The maximum balance.</summary>
    public Amount Limit { get; }

    internal SetCreditLimitRequest Message { get; }
}

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
