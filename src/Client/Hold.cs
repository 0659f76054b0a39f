using Billing.Contracts;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;
using static Billing.Client.RequestChecks;

namespace Billing.Client;

/// <summary>A payment that is authorised first: its amount is put on hold, to be captured or voided later.
/// Its id makes it safe to retry, as with a payment, and is the payment's id for all that follows.</summary>
public sealed record Hold
{
    /// <summary>Creates a new hold with a new id. Keep the hold, or its id.</summary>
    /// <exception cref="ArgumentException">See the other constructor.</exception>
    public Hold(CardAccount account, Amount amount, TimeSpan? standsFor = null)
        : this(OrderedId.New(), account, amount, standsFor)
    {
    }

    /// <summary>Creates a hold with an existing id.</summary>
    /// <param name="id">The idempotency key; not empty.</param>
    /// <param name="account">The account.</param>
    /// <param name="amount">More than zero and at most 1,000,000,000.</param>
    /// <param name="standsFor">How long the amount stays on hold: whole seconds, from one to 31 days;
    /// null for seven days, the platform's default.</param>
    /// <exception cref="ArgumentException">The id is empty, or the amount or the time is out of range.</exception>
    public Hold(Guid id, CardAccount account, Amount amount, TimeSpan? standsFor = null)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentNullException.ThrowIfNull(amount);
        if (standsFor is { } time
            && (time < TimeSpan.FromSeconds(1) || time > TimeSpan.FromSeconds(FieldRules.HoldSecondsMax)
                || time.Ticks % TimeSpan.TicksPerSecond != 0))
        {
            throw new ArgumentOutOfRangeException(
                nameof(standsFor), standsFor, "A hold stands for whole seconds, from one to 31 days.");
        }
        (Id, Account, Amount, StandsFor) = (id, account, amount, standsFor);
        Message = new AuthorisePaymentRequest
        {
            TransactionId = id.ToString(),
            AccountId = account.Id,
            PaymentType = account.Type,
            Amount = amount.ToMoney(),
            HoldDuration = standsFor?.ToDuration(),
        };
        if (FieldRules.Check(Message) is { } violation)
        {
            throw new ArgumentException(
                violation.ToString(), violation.Field == "transaction_id" ? nameof(id) : nameof(amount));
        }
    }

    /// <summary>The idempotency key, and the payment's id.</summary>
    public Guid Id { get; }

    /// <summary>The account.</summary>
    public CardAccount Account { get; }

    /// <summary>The amount to put on hold.</summary>
    public Amount Amount { get; }

    /// <summary>How long it stays on hold; null for the platform's default.</summary>
    public TimeSpan? StandsFor { get; }

    internal TimeSpan Duration => StandsFor ?? TimeSpan.FromSeconds(FieldRules.HoldSecondsDefault);

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
                new AuthorisePaymentRequest(Message) { Notes = value?.ToMessage() }, FieldRules.Check, nameof(value));
        }
    }

    internal AuthorisePaymentRequest Message { get; private init; }
}

/// <summary>The answer to a hold: the amount is on hold. It does not change the balance.</summary>
public sealed record HoldAnswer : Answer
{
    /// <summary>When the hold expires.</summary>
    public required DateTimeOffset ExpiresAt { get; init; }
}

/// <summary>The capture of a payment that was authorised, whole or in part. Its id makes it safe to retry:
/// however often it is sent, it is charged once.</summary>
public sealed record Capture
{
    /// <summary>Creates a new capture with a new id. Keep the capture, or its id, until its outcome is known.</summary>
    /// <exception cref="ArgumentException">See the other constructor.</exception>
    public Capture(CardAccount account, Guid paymentId, Amount amount, bool isFinal = false)
        : this(OrderedId.New(), account, paymentId, amount, isFinal)
    {
    }

    /// <summary>Creates a capture with an existing id.</summary>
    /// <param name="id">The idempotency key; not empty, and not that of the payment.</param>
    /// <param name="account">The payment's account.</param>
    /// <param name="paymentId">The id of the payment.</param>
    /// <param name="amount">More than zero, in the payment's currency, and at most what is on
    /// hold of the payment.</param>
    /// <param name="isFinal">Whether it is the last capture: what is left on hold is released.</param>
    /// <exception cref="ArgumentException">An id is empty, or the amount is out of range.</exception>
    public Capture(Guid id, CardAccount account, Guid paymentId, Amount amount, bool isFinal = false)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentNullException.ThrowIfNull(amount);
        (Id, Account, PaymentId, Amount, IsFinal) = (id, account, paymentId, amount, isFinal);
        Message = new CapturePaymentRequest
        {
            TransactionId = id.ToString(),
            AccountId = account.Id,
            PaymentType = account.Type,
            PaymentId = paymentId.ToString(),
            Amount = amount.ToMoney(),
            IsFinal = isFinal,
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

    /// <summary>The amount to charge.</summary>
    public Amount Amount { get; }

    /// <summary>Whether it is the last capture: what is left on hold is released.</summary>
    public bool IsFinal { get; }

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
                new CapturePaymentRequest(Message) { Notes = value?.ToMessage() }, FieldRules.Check, nameof(value));
        }
    }

    internal CapturePaymentRequest Message { get; private init; }
}

/// <summary>The answer to a capture: it is charged. It is rejected, besides the reasons of any request, for
/// <see cref="RejectionReason.PaymentNotFound"/>, <see cref="RejectionReason.PaymentDeclined"/>,
/// <see cref="RejectionReason.NotOnHold"/>, <see cref="RejectionReason.CurrencyMismatch"/> and
/// <see cref="RejectionReason.AmountTooLarge"/>.</summary>
public sealed record CaptureAnswer : Answer, INeverDeclined
{
    /// <summary>What has been charged for the payment, with this.</summary>
    public required Amount Total { get; init; }

    /// <summary>What of the payment is still on hold.</summary>
    public required Amount Held { get; init; }

    internal static Outcome<CaptureAnswer> Of(Guid id, CapturePaymentResponse answer) => new(id, new CaptureAnswer
    {
        Total = Amount.Of(answer.Charged),
        Held = Amount.Of(answer.Held),
        Balance = Amount.Of(answer.Balance),
        OnHold = Amount.Of(answer.OnHold),
        DecidedAt = Outcomes.TimeOf(answer.DecideTime),
        Version = answer.Version,
        IsReplay = answer.Replayed,
    });
}

/// <summary>Releases what is on hold of a payment. Its id makes it safe to retry.</summary>
public sealed record HoldVoid
{
    /// <summary>Creates it with a new id. Keep it, or its id, until its outcome is known.</summary>
    /// <exception cref="ArgumentException">See the other constructor.</exception>
    public HoldVoid(CardAccount account, Guid paymentId)
        : this(OrderedId.New(), account, paymentId)
    {
    }

    /// <summary>Creates it with an existing id.</summary>
    /// <param name="id">The idempotency key; not empty, and not that of the payment.</param>
    /// <param name="account">The payment's account.</param>
    /// <param name="paymentId">The id of the payment.</param>
    /// <exception cref="ArgumentException">An id is empty.</exception>
    public HoldVoid(Guid id, CardAccount account, Guid paymentId)
    {
        ArgumentNullException.ThrowIfNull(account);
        (Id, Account, PaymentId) = (id, account, paymentId);
        Message = new VoidPaymentRequest
        {
            TransactionId = id.ToString(),
            AccountId = account.Id,
            PaymentType = account.Type,
            PaymentId = paymentId.ToString(),
        };
        if (FieldRules.Check(Message) is { } violation)
        {
            throw new ArgumentException(
                violation.ToString(), violation.Field == "transaction_id" ? nameof(id) : nameof(paymentId));
        }
    }

    /// <summary>The idempotency key.</summary>
    public Guid Id { get; }

    /// <summary>The payment's account.</summary>
    public CardAccount Account { get; }

    /// <summary>The id of the payment.</summary>
    public Guid PaymentId { get; }

    internal VoidPaymentRequest Message { get; }
}

/// <summary>The answer to a <see cref="HoldVoid"/>: nothing of the payment is on hold any more. It does not change the
/// balance. It is rejected, besides the reasons of any request, for <see cref="RejectionReason.PaymentNotFound"/>,
/// <see cref="RejectionReason.PaymentDeclined"/> and <see cref="RejectionReason.NotOnHold"/>.</summary>
public sealed record HoldVoidAnswer : Answer, INeverDeclined
{
    /// <summary>What was on hold until then.</summary>
    public required Amount Released { get; init; }

    internal static Outcome<HoldVoidAnswer> Of(Guid id, VoidPaymentResponse answer) => new(id, new HoldVoidAnswer
    {
        Released = Amount.Of(answer.Released),
        Balance = Amount.Of(answer.Balance),
        OnHold = Amount.Of(answer.OnHold),
        DecidedAt = Outcomes.TimeOf(answer.DecideTime),
        Version = answer.Version,
        IsReplay = answer.Replayed,
    });
}
