using Billing.Contracts;
using Billing.V1;
using static Billing.Client.RequestChecks;

namespace Billing.Client;

/// <summary>A payment to make. Its id makes retries safe: however often it is sent, it is charged once.</summary>
public sealed record Payment
{
    /// <summary>Creates a new payment with a new id, a UUID of version 7: such ids order by time, so that the platform stores those of
    /// one time side by side. Keep the payment, or its id, until its outcome is known.</summary>
    /// <exception cref="ArgumentException">See the other constructor.</exception>
    public Payment(CardAccount account, Amount amount)
        : this(OrderedId.New(), account, amount)
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

    /// <summary>What you keep with it, to match it with records of your own; part of what a retry has to repeat. Null for nothing.</summary>
    /// <exception cref="ArgumentException">Something is too long, or has other characters than are allowed: see <see cref="Contracts.Notes"/>.</exception>
    public Notes? Notes
    {
        get;
        init
        {
            field = value;
            Message = Checked(new MakePaymentRequest(Message) { Notes = value?.ToMessage() }, FieldRules.Check, nameof(value));
        }
    }

    internal MakePaymentRequest Message { get; private init; }
}

/// <summary>The outcome of a payment: always one of <see cref="Accepted"/>, <see cref="Declined"/>, <see cref="Rejected"/> and
/// <see cref="Unknown"/>.</summary>
public abstract record PaymentResult
{
    private PaymentResult(Guid paymentId) => PaymentId = paymentId;

    /// <summary>The payment's id.</summary>
    public Guid PaymentId { get; }

    /// <summary>Charged. A retry gets the same answer.</summary>
    /// <param name="PaymentId">The payment's id.</param>
    /// <param name="Balance">The account's balance after the payment.</param>
    /// <param name="Version">The version of the account that records the payment; pass it to
    /// <see cref="IBillingClient.GetBalanceAsync"/> to read a balance that includes it.</param>
    public sealed record Accepted(Guid PaymentId, Amount Balance, long Version) : PaymentResult(PaymentId);

    /// <summary>Not charged, because of the account's limit or currency. The decision is recorded: a retry gets the same answer;
    /// to charge the account after all, make another payment with its own id.</summary>
    /// <param name="PaymentId">The payment's id.</param>
    /// <param name="Reason">The reason.</param>
    /// <param name="Message">The reason as text.</param>
    /// <param name="Balance">The account's balance.</param>
    /// <param name="Version">The version of the account that records the decision.</param>
    public sealed record Declined(Guid PaymentId, DeclineReason Reason, string Message, Amount Balance, long Version)
        : PaymentResult(PaymentId);

    /// <summary>Not charged by this call and not recorded: the request is invalid or the caller has no permission; a retry of the
    /// same request gets the same result.</summary>
    /// <param name="PaymentId">The payment's id.</param>
    /// <param name="Reason">The reason.</param>
    /// <param name="Field">The invalid field, e.g. <c>amount.units</c>; empty if there is none.</param>
    /// <param name="Message">The reason as text.</param>
    public sealed record Rejected(Guid PaymentId, RejectionReason Reason, string Field, string Message) : PaymentResult(PaymentId);

    /// <summary>The client does not know whether the account was charged: retry with the same id, which is safe, until the
    /// outcome is known.</summary>
    /// <param name="PaymentId">The payment's id.</param>
    /// <param name="Reason">The platform's reason code, one of <see cref="Contracts.ErrorReasons"/>; empty if a connection
    /// failed.</param>
    /// <param name="Message">The failure as text.</param>
    /// <param name="RetryAfter">The platform's requested delay before a retry; null if it sent none.</param>
    public sealed record Unknown(Guid PaymentId, string Reason, string Message, TimeSpan? RetryAfter = null)
        : PaymentResult(PaymentId);
}
