using Billing.Contracts;
using Billing.V1;
using static Billing.Client.RequestChecks;

namespace Billing.Client;

/// <summary>A new credit limit for an account. Its id makes it safe to retry, as with a payment.</summary>
public sealed record CreditLimitChange
{
    /// <summary>Creates a new limit with a new id.</summary>
    /// <exception cref="ArgumentException">See the other constructor.</exception>
    public CreditLimitChange(CardAccount account, Amount limit)
        : this(OrderedId.New(), account, limit)
    {
    }

    /// <summary>Creates a limit with an existing id.</summary>
    /// <param name="id">The idempotency key; not empty.</param>
    /// <param name="account">The account.</param>
    /// <param name="limit">The maximum balance: zero or more.</param>
    /// <exception cref="ArgumentException">The id is empty, or the limit is negative.</exception>
    public CreditLimitChange(Guid id, CardAccount account, Amount limit)
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
            throw new ArgumentException(
                violation.ToString(), violation.Field == "transaction_id" ? nameof(id) : nameof(limit));
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

/// <summary>The answer to a new credit limit: it is in force from the version on.</summary>
public sealed record CreditLimitAnswer : Answer, INeverDeclined
{
    /// <summary>The maximum balance. The balance may exceed a lowered one.</summary>
    public required Amount Limit { get; init; }

    internal static Outcome<CreditLimitAnswer> Of(Guid id, SetCreditLimitResponse answer) =>
        new(id, new CreditLimitAnswer
        {
            Limit = Amount.Of(answer.Limit),
            Balance = Amount.Of(answer.Balance),
            OnHold = Amount.Of(answer.OnHold),
            DecidedAt = Outcomes.TimeOf(answer.DecideTime),
            Version = answer.Version,
            IsReplay = answer.Replayed,
        });
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
            AccountStatus = (V1.AccountStatus)status,
        };
        if (FieldRules.Check(Message) is { } violation)
        {
            throw new ArgumentException(
                violation.ToString(), violation.Field == "transaction_id" ? nameof(id) : nameof(status));
        }
    }

    /// <summary>The idempotency key.</summary>
    public Guid Id { get; }

    /// <summary>The account.</summary>
    public CardAccount Account { get; }

    /// <summary>The status that it is to have.</summary>
    public AccountStatus Status { get; }

    /// <summary>What you keep with it, e.g. the number of the case; part of what a retry has to repeat.
    /// Null for nothing.</summary>
    /// <exception cref="ArgumentException">Something is too long, or has other characters than are allowed:
    /// see <see cref="Client.Notes"/>.</exception>
    public Notes? Notes
    {
        get;
        init
        {
            field = value;
            Message = Checked(
                new SetAccountStatusRequest(Message) { Notes = value?.ToMessage() }, FieldRules.Check, nameof(value));
        }
    }

    internal SetAccountStatusRequest Message { get; private init; }
}

/// <summary>The answer to a change of an account's status: the account has it from the version on. It is rejected,
/// besides the reasons of any request, for <see cref="RejectionReason.AccountNotEmpty"/>, with what it owes and what is
/// on hold in the message.</summary>
public sealed record AccountStatusAnswer : Answer, INeverDeclined
{
    /// <summary>The status.</summary>
    public required AccountStatus Status { get; init; }

    internal static Outcome<AccountStatusAnswer> Of(Guid id, SetAccountStatusResponse answer) =>
        new(id, new AccountStatusAnswer
        {
            Status = (AccountStatus)answer.AccountStatus,
            Balance = Amount.Of(answer.Balance),
            OnHold = Amount.Of(answer.OnHold),
            DecidedAt = Outcomes.TimeOf(answer.DecideTime),
            Version = answer.Version,
            IsReplay = answer.Replayed,
        });
}

/// <summary>Whether an account takes payments. A newer platform may have further values.</summary>
public enum AccountStatus
{
    /// <summary>Not known.</summary>
    Unknown,

    /// <summary>It takes payments and holds.</summary>
    Open,

    /// <summary>Payments and holds are declined; captures, refunds and voidings are not.</summary>
    Frozen,

    /// <summary>It owes nothing, nothing is on hold, and payments and holds are declined.</summary>
    Closed,
}
