using Billing.Contracts;
using Billing.V1;
using static Billing.Client.RequestChecks;

namespace Billing.Client;

/// <summary>A refund of a payment, whole or in part. Its id makes it safe to retry: however often it is sent,
/// it is given back once.</summary>
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

    /// <summary>What you keep with it, to match it with records of your own; part of what a retry has to repeat.
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
                new RefundPaymentRequest(Message) { Notes = value?.ToMessage() }, FieldRules.Check, nameof(value));
        }
    }

    internal RefundPaymentRequest Message { get; private init; }
}

/// <summary>The answer to a refund: it is given back. It is rejected, besides the reasons of any request, for
/// <see cref="RejectionReason.PaymentNotFound"/>, <see cref="RejectionReason.PaymentDeclined"/>,
/// <see cref="RejectionReason.CurrencyMismatch"/> and <see cref="RejectionReason.AmountTooLarge"/>.</summary>
public sealed record RefundAnswer : Answer, INeverDeclined
{
    /// <summary>What has been given back of the payment, with this.</summary>
    public required Amount Total { get; init; }

    internal static Outcome<RefundAnswer> Of(Guid id, RefundPaymentResponse answer) => new(id, new RefundAnswer
    {
        Total = Amount.Of(answer.Refunded),
        Balance = Amount.Of(answer.Balance),
        OnHold = Amount.Of(answer.OnHold),
        DecidedAt = Outcomes.TimeOf(answer.DecideTime),
        Version = answer.Version,
        IsReplay = answer.Replayed,
    });
}
