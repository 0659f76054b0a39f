namespace Billing.Backends.Domain;

/// <summary>What has become of one payment of an account: the fold of the events about it.</summary>
/// <param name="Currency">ISO 4217.</param>
/// <param name="Charged">What was charged; zero if it was declined.</param>
/// <param name="Refunded">What was given back; never more than was charged.</param>
/// <param name="IsDeclined">Whether it was declined.</param>
public sealed record PaymentState(string Currency, decimal Charged, decimal Refunded, bool IsDeclined)
{
    /// <summary>The state after the event that records the payment; null if the event records none.</summary>
    public static PaymentState? Of(AccountEvent? recorded) => recorded switch
    {
        PaymentAccepted accepted => new PaymentState(accepted.Currency, accepted.Amount, 0, IsDeclined: false),
        PaymentDeclined declined => new PaymentState(declined.Currency, 0, 0, IsDeclined: true),
        _ => null,
    };

    /// <summary>The state after an event that follows up the payment. Such an event states all of it, so the last one is enough.</summary>
    public PaymentState After(PaymentFollowUp fact) => this with { Charged = fact.Charged, Refunded = fact.Refunded };
}

/// <summary>A fact about a payment that was recorded before, of the same account. It states what has become of the payment by then, so that
/// only the last one has to be read.</summary>
public abstract record PaymentFollowUp : AccountEvent
{
    /// <summary>The transaction id of the payment.</summary>
    public abstract Guid PaymentId { get; init; }

    /// <summary>What has been charged for the payment.</summary>
    public required decimal Charged { get; init; }

    /// <summary>What has been given back of the payment, with this.</summary>
    public required decimal Refunded { get; init; }
}
