using Billing.V1;

namespace Billing.Client;

/// <summary>What became of a payment: <see cref="Accepted"/>, <see cref="Declined"/>, <see cref="Rejected"/> or
/// <see cref="Unknown"/>, and nothing else.</summary>
public abstract record PaymentResult
{
    private PaymentResult(Guid paymentId) => PaymentId = paymentId;

    /// <summary>The payment's id.</summary>
    public Guid PaymentId { get; }

    /// <summary>Charged. Asking again gets the same answer.</summary>
    /// <param name="PaymentId">The payment's id.</param>
    /// <param name="Balance">What the account owes after it.</param>
    /// <param name="Version">The version of the account that records it; give it to
    /// <see cref="IBillingClient.GetBalanceAsync"/> to read a balance that has it.</param>
    public sealed record Accepted(Guid PaymentId, Amount Balance, long Version) : PaymentResult(PaymentId);

    /// <summary>Not charged, for a reason of the account. It is recorded: asking again gets the same answer, and another try
    /// is another payment, with an id of its own.</summary>
    /// <param name="PaymentId">The payment's id.</param>
    /// <param name="Reason">Why.</param>
    /// <param name="Message">Why, for a person.</param>
    /// <param name="Balance">What the account owes.</param>
    /// <param name="Version">The version of the account that records it.</param>
    public sealed record Declined(Guid PaymentId, DeclineReason Reason, string Message, Amount Balance, long Version)
        : PaymentResult(PaymentId);

    /// <summary>Not charged by this call and not recorded: the request or its caller is at fault, and asking again in the same
    /// way ends the same.</summary>
    /// <param name="PaymentId">The payment's id.</param>
    /// <param name="Reason">Why.</param>
    /// <param name="Field">The field at fault, e.g. <c>amount.units</c>; empty where none is.</param>
    /// <param name="Message">Why, for a person.</param>
    public sealed record Rejected(Guid PaymentId, RejectionReason Reason, string Field, string Message) : PaymentResult(PaymentId);

    /// <summary>Charged or not, nobody here knows: ask again with the same id, which is safe, until another outcome
    /// comes.</summary>
    /// <param name="PaymentId">The payment's id.</param>
    /// <param name="Reason">The platform's constant, one of <see cref="Contracts.ErrorReasons"/>; empty where a connection
    /// failed.</param>
    /// <param name="Message">What happened, for a person.</param>
    /// <param name="RetryAfter">How long the platform wants to be left alone; null where it does not say.</param>
    public sealed record Unknown(Guid PaymentId, string Reason, string Message, TimeSpan? RetryAfter = null)
        : PaymentResult(PaymentId);
}
