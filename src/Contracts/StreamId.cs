using Billing.V1;

namespace Billing.Contracts;

/// <summary>Ids of the event streams: <c>&lt;type&gt;/&lt;account&gt;</c>, e.g. <c>visa/acct-42</c>, one a card account.
/// </summary>
public static class StreamId
{
    /// <summary>The stream of an account.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no such payment type.</exception>
    public static string For(PaymentType type, string accountId) => $"{PaymentTypes.NameOf(type)}/{accountId}";
}
