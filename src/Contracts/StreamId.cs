using Billing.V1;

namespace Billing.Contracts;

/// <summary>Ids of the event streams: <c>&lt;type&gt;/&lt;account&gt;</c>, e.g. <c>visa/acct-42</c>, one stream for each card account.
/// </summary>
public static class StreamId
{
    /// <summary>The id of an account's stream.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no such payment type.</exception>
    public static string For(PaymentType type, string accountId) => $"{PaymentTypes.NameOf(type)}/{accountId}";
}
