using Billing.Contracts;
using Billing.V1;
using static Billing.Client.RequestChecks;

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

/// <summary>Freezes, closes or reopens an account. Its id makes it safe to retry, as with a payment.</summary>
public sealed record AccountStatusChange
{
    /// <summary>Creates a new change with a new id.</summary>
    /// <exception cref="ArgumentException">See the other constructor.</exception>
    public AccountStatusChange(CardAccount account, AccountStatus status)
        : this(OrderedId.New(), account, status)
    {
    }

    /// <summary>Creates a change with an existing id.</summary>
    /// <param name="id">The idempotency key; not empty.</param>
    /// <param name="account">The account.</param>
    /// <param name="status">The status that it is to have; may be the one that it has.</param>
    /// <exception cref="ArgumentException">The id is empty, or there is no such status.</exception>
    public AccountStatusChange(Guid id, CardAccount account, AccountStatus status)
    {
        ArgumentNullException.ThrowIfNull(account);
        (Id, Account, Status) = (id, account, status);
        Message = new SetAccountStatusRequest
        {
            TransactionId = id.ToString(),
            AccountId = account.Id,
            PaymentType = account.Type,
            AccountStatus = status,
        };
        if (FieldRules.Check(Message) is { } violation)
        {
            throw new ArgumentException(violation.ToString(), violation.Field == "transaction_id" ? nameof(id) : nameof(status));
        }
    }

    /// <summary>The idempotency key.</summary>
    public Guid Id { get; }

    /// <summary>The account.</summary>
    public CardAccount Account { get; }

    /// <summary>The status that it is to have.</summary>
    public AccountStatus Status { get; }

    /// <summary>What you keep with it, e.g. the number of the case; part of what a retry has to repeat. Null for nothing.</summary>
    /// <exception cref="ArgumentException">Something is too long, or has other characters than are allowed: see <see cref="Contracts.Notes"/>.</exception>
    public Notes? Notes
    {
        get;
        init
        {
            field = value;
            Message = Checked(new SetAccountStatusRequest(Message) { Notes = value?.ToMessage() }, FieldRules.Check, nameof(value));
        }
    }

    internal SetAccountStatusRequest Message { get; private init; }
}

/// <summary>The outcome of a change of an account's status: always one of <see cref="Applied"/>, <see cref="Rejected"/> and
/// <see cref="Unknown"/>.</summary>
public abstract record AccountStatusResult
{
    private AccountStatusResult(Guid id) => Id = id;

    /// <summary>The idempotency key of the change.</summary>
    public Guid Id { get; }

    /// <summary>The account has the status from <paramref name="Version"/> on.</summary>
    /// <param name="Id">The idempotency key.</param>
    /// <param name="Status">The status.</param>
    /// <param name="Balance">The account's balance.</param>
    /// <param name="OnHold">What is on hold.</param>
    /// <param name="Version">The version of the account that records the change.</param>
    public sealed record Applied(Guid Id, AccountStatus Status, Amount Balance, Amount OnHold, long Version) : AccountStatusResult(Id);

    /// <summary>Not changed by this call: a retry of the same request gets the same result, unless the account changes.</summary>
    /// <param name="Id">The idempotency key.</param>
    /// <param name="Reason">The reason: besides those of any request, <see cref="RejectionReason.AccountNotEmpty"/>.</param>
    /// <param name="Field">The invalid field; empty if there is none.</param>
    /// <param name="Message">The reason as text; of an account that is not empty, with what it owes and what is on hold.</param>
    public sealed record Rejected(Guid Id, RejectionReason Reason, string Field, string Message) : AccountStatusResult(Id);

    /// <summary>The client does not know whether it was changed: retry with the same id, which is safe.</summary>
    /// <param name="Id">The idempotency key.</param>
    /// <param name="Reason">The platform's reason code, one of <see cref="Contracts.ErrorReasons"/>; empty if a connection
    /// failed.</param>
    /// <param name="Message">The failure as text.</param>
    /// <param name="RetryAfter">The platform's requested delay before a retry; null if it sent none.</param>
    public sealed record Unknown(Guid Id, string Reason, string Message, TimeSpan? RetryAfter = null) : AccountStatusResult(Id);
}
