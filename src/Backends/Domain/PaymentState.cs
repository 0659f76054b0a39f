namespace Billing.Backends.Domain;

/// <summary>What has become of one payment of an account by the events about it.</summary>
/// <param name="Currency">ISO 4217.</param>
/// <param name="Charged">What was charged: the whole of a payment, of one that was authorised what was captured,
/// zero if it was declined.</param>
/// <param name="Refunded">What was given back; never more than was charged.</param>
/// <param name="Held">What is on hold.</param>
/// <param name="IsDeclined">Whether it was declined.</param>
public sealed record PaymentState(string Currency, decimal Charged, decimal Refunded, decimal Held, bool IsDeclined)
{
    /// <summary>When the hold expires; null if there never was one.</summary>
    public DateTimeOffset? ExpiresAt { get; init; }

    /// <summary>The state after the event that records the payment; null if the event records none.</summary>
    public static PaymentState? Of(AccountEvent? recorded) => recorded switch
    {
        PaymentAccepted accepted => new(accepted.Currency, accepted.Amount, 0, 0, IsDeclined: false),
        PaymentDeclined declined => new(declined.Currency, 0, 0, 0, IsDeclined: true),
        PaymentAuthorised authorised =>
            new(authorised.Currency, 0, 0, authorised.Amount, IsDeclined: false) { ExpiresAt = authorised.ExpiresAt },
        AuthorisationDeclined declined => new(declined.Currency, 0, 0, 0, IsDeclined: true),
        _ => null,
    };

    /// <summary>The state after an event that follows up the payment. Such an event states all of it, so the
    /// last one is enough.</summary>
    public PaymentState After(PaymentFollowUp fact) =>
        this with { Charged = fact.Charged, Refunded = fact.Refunded, Held = fact.Held };
}

/// <summary>A fact about a payment that was recorded before, of the same account. It states what has become of the
/// payment by then, so that only the last one has to be read.</summary>
public abstract record PaymentFollowUp : AccountEvent
{
    /// <summary>The transaction id of the payment.</summary>
    public abstract Guid PaymentId { get; init; }

    /// <summary>What has been charged for the payment.</summary>
    public required decimal Charged { get; init; }

    /// <summary>What has been given back of the payment.</summary>
    public required decimal Refunded { get; init; }

    /// <summary>What of the payment is on hold.</summary>
    public required decimal Held { get; init; }

    internal override Guid? EndsHoldOf => Held == 0 ? PaymentId : null;
}
