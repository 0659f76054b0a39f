using Billing.V1;

namespace Billing.Contracts;

/// <summary>Ids of the event streams: <c>&lt;type&gt;/&lt;account&gt;</c>, e.g. <c>visa/acct-42</c>, one a card account.
/// </summary>
public static class StreamId
{
    /// <summary>The stream of an account.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The payment type is not one of the four.</exception>
    public static string For(PaymentType type, string accountId) => type switch
    {
        PaymentType.Visa => "visa/" + accountId,
        PaymentType.Mastercard => "mastercard/" + accountId,
        PaymentType.Discover => "discover/" + accountId,
        PaymentType.Amex => "amex/" + accountId,
        _ => throw new ArgumentOutOfRangeException(nameof(type), type, "This payment type has no accounts."),
    };
}
