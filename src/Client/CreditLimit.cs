using Billing.Contracts;
using Billing.V1;

namespace Billing.Client;

/// <summary>A new credit limit for an account. Its id makes it safe to retry, as with a payment.</summary>
public sealed record CreditLimit
{
    /// <summary>Creates a new limit with a new id.</summary>
    /// <exception cref="ArgumentException">See the other constructor.</exception>
    public CreditLimit(CardAccount account, Amount limit)
        : this(Guid.NewGuid(), account, limit)
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
