using Billing.Contracts;
using Billing.V1;

namespace Billing.Client;

/// <summary>A payment to make. Its id makes retries safe: however often it is sent, it is charged once.</summary>
public sealed record Payment
{
    /// <summary>Creates a new payment with a new id. Keep the payment, or its id, until its outcome is known.</summary>
    /// <exception cref="ArgumentException">See the other constructor.</exception>
    public Payment(CardAccount account, Amount amount)
        : this(Guid.NewGuid(), account, amount)
    {
    }

    /// <summary>Creates a payment with an existing id: to retry a payment whose outcome is unknown, or to use an id of your own,
    /// for instance that of an order.</summary>
    /// <param name="id">The idempotency key; not empty.</param>
    /// <param name="account">The account to charge.</param>
    /// <param name="amount">More than zero and at most 1,000,000,000.</param>
    /// <exception cref="ArgumentException">The id is empty, or the amount is out of range.</exception>
    public Payment(Guid id, CardAccount account, Amount amount)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentNullException.ThrowIfNull(amount);
        Id = id;
        Account = account;
        Amount = amount;
        Message = new MakePaymentRequest
        {
            TransactionId = id.ToString(),
            AccountId = account.Id,
            PaymentType = account.Type,
            Amount = amount.ToMoney(),
        };
        if (FieldRules.Check(Message) is { } violation)
        {
            throw new ArgumentException(violation.ToString(), violation.Field == "transaction_id" ? nameof(id) : nameof(amount));
        }
    }

    /// <summary>The idempotency key.</summary>
    public Guid Id { get; }

    /// <summary>The account to charge.</summary>
    public CardAccount Account { get; }

    /// <summary>The amount to charge.</summary>
    public Amount Amount { get; }

    internal MakePaymentRequest Message { get; }
}
