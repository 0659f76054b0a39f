namespace Billing.Backends.Domain;

/// <summary>What a command comes to: an event, or a refusal, of which nothing is recorded.</summary>
public readonly record struct Decision
{
    private Decision(AccountEvent? fact, Refusal? refusal) => (Event, Refusal) = (fact, refusal);

    /// <summary>The event to record; null if the command is refused.</summary>
    public AccountEvent? Event { get; }

    /// <summary>Why nothing is recorded; null if there is an event.</summary>
    public Refusal? Refusal { get; }

    /// <summary>An event to record.</summary>
    public static implicit operator Decision(AccountEvent fact) => new(fact, null);

    /// <summary>A refusal.</summary>
    public static implicit operator Decision(Refusal refusal) => new(null, refusal);

    /// <summary>An event to record.</summary>
    public static Decision ToDecision(AccountEvent fact) => fact;

    /// <summary>A refusal.</summary>
    public static Decision ToDecision(Refusal refusal) => refusal;
}

/// <summary>Why a command is refused.</summary>
public abstract record Refusal
{
    private Refusal()
    {
    }

    /// <summary>The account, or the payment, is kept in another currency.</summary>
    /// <param name="Currency">That currency.</param>
    public sealed record OtherCurrency(string Currency) : Refusal;

    /// <summary>The account cannot be closed: it owes something, or something is on hold.</summary>
    /// <param name="Balance">What it owes.</param>
    /// <param name="OnHold">What is on hold.</param>
    /// <param name="Currency">ISO 4217.</param>
    public sealed record NotEmpty(decimal Balance, decimal OnHold, string Currency) : Refusal;

    /// <summary>The account has no such payment.</summary>
    public sealed record NoSuchPayment : Refusal;

    /// <summary>Nothing of the payment is on hold.</summary>
    public sealed record NothingOnHold : Refusal;

    /// <summary>The amount is more than is on hold of the payment.</summary>
    /// <param name="Held">What is on hold, more than zero.</param>
    public sealed record MoreThanIsHeld(decimal Held) : Refusal;

    /// <summary>The payment was declined, so that there is nothing to give back or to capture.</summary>
    public sealed record PaymentWasDeclined : Refusal;

    /// <summary>The amount is more than is left of the payment.</summary>
    /// <param name="Left">What is left, zero or more.</param>
    public sealed record MoreThanIsLeft(decimal Left) : Refusal;
}
