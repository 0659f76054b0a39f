using Billing.Contracts;
using Billing.V1;
using static Billing.Client.RequestChecks;

namespace Billing.Client;

/// <summary>A refund of a payment, whole or in part. Its id makes it safe to retry: however often it is sent, it is given back once.</summary>
public sealed record Refund
{
    /// <summary>Creates a new refund with a new id. Keep the refund, or its id, until its outcome is known.</summary>
    /// <exception cref="ArgumentException">See the other constructor.</exception>
    public Refund(CardAccount account, Guid paymentId, Amount amount)
        : this(OrderedId.New(), account, paymentId, amount)
    {
    }

    /// <summary>Creates a refund with an existing id.</summary>
    /// <param name="id">The idempotency key; not empty, and not that of the payment.</param>
    /// <param name="account">The payment's account.</param>
    /// <param name="paymentId">The id of the payment.</param>
    /// <param name="amount">More than zero, in the payment's currency, and at most what is left of the payment.</param>
    /// <exception cref="ArgumentException">An id is empty, or the amount is out of range.</exception>
    public Refund(Guid id, CardAccount account, Guid paymentId, Amount amount)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentNullException.ThrowIfNull(amount);
        (Id, Account, PaymentId, Amount) = (id, account, paymentId, amount);
        Message = new RefundPaymentRequest
        {
            TransactionId = id.ToString(),
            AccountId = account.Id,
            PaymentType = account.Type,
            PaymentId = paymentId.ToString(),
            Amount = amount.ToMoney(),
        };
        if (FieldRules.Check(Message) is { } violation)
        {
            throw new ArgumentException(violation.ToString(), violation.Field switch
            {
                "transaction_id" => nameof(id),
                "payment_id" => nameof(paymentId),
                _ => nameof(amount),
            });
        }
    }

    /// <summary>The idempotency key.</summary>
    public Guid Id { get; }

    /// <summary>The payment's account.</summary>
    public CardAccount Account { get; }

    /// <summary>The id of the payment.</summary>
    public Guid PaymentId { get; }

    /// <summary>The amount to give back.</summary>
    public Amount Amount { get; }

    /// <summary>What you keep with it, to match it with records of your own; part of what a retry has to repeat. Null for nothing.</summary>
    /// <exception cref="ArgumentException">Something is too long, or has other characters than are allowed: see <see cref="Contracts.Notes"/>.</exception>
    public Notes? Notes
    {
        get;
        init
        {
            field = value;
            Message = Checked(new RefundPaymentRequest(Message) { Notes = value?.ToMessage() }, FieldRules.Check, nameof(value));
        }
    }

    internal RefundPaymentRequest Message { get; private init; }
}

/// <summary>The outcome of a refund: always one of <see cref="Refunded"/>, <see cref="Rejected"/> and <see cref="Unknown"/>.</summary>
public abstract record RefundResult
{
    private RefundResult(Guid id) => Id = id;

    /// <summary>The refund's id.</summary>
    public Guid Id { get; }

    /// <summary>Given back. A retry gets the same answer.</summary>
    /// <param name="Id">The refund's id.</param>
    /// <param name="Total">What has been given back of the payment, with this.</param>
    /// <param name="Balance">The account's balance after it.</param>
    /// <param name="Version">The version of the account that records the refund.</param>
    public sealed record Refunded(Guid Id, Amount Total, Amount Balance, long Version) : RefundResult(Id);

    /// <summary>Not given back by this call, and not recorded.</summary>
    /// <param name="Id">The refund's id.</param>
    /// <param name="Reason">The reason: besides those of any request, <see cref="RejectionReason.PaymentNotFound"/>,
    /// <see cref="RejectionReason.PaymentDeclined"/>, <see cref="RejectionReason.CurrencyMismatch"/> and
    /// <see cref="RejectionReason.AmountTooLarge"/>.</param>
    /// <param name="Field">The invalid field; empty if there is none.</param>
    /// <param name="Message">The reason as text.</param>
    public sealed record Rejected(Guid Id, RejectionReason Reason, string Field, string Message) : RefundResult(Id);

    /// <summary>The client does not know whether it was given back: retry with the same id, which is safe.</summary>
    /// <param name="Id">The refund's id.</param>
    /// <param name="Reason">The platform's reason code, one of <see cref="Contracts.ErrorReasons"/>; empty if a connection
    /// failed.</param>
    /// <param name="Message">The failure as text.</param>
    /// <param name="RetryAfter">The platform's requested delay before a retry; null if it sent none.</param>
    public sealed record Unknown(Guid Id, string Reason, string Message, TimeSpan? RetryAfter = null) : RefundResult(Id);
}
