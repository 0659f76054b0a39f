using Billing.V1;

namespace Billing.Contracts;

/// <summary>Ids of the event streams: <c>&lt;type&gt;/&lt;account&gt;</c>, e.g.
/// <c>visa/acct-42</c>, one stream for each card account.</summary>
public static class StreamId
{
    /// <summary>The id of an account's stream.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no such payment type.</exception>
    public static string For(PaymentType type, string accountId) => $"{PaymentTypes.NameOf(type)}/{accountId}";

    /// <summary>The name of the payment type, as in the id, and the account; null if it is not the id of an
    /// account's stream.</summary>
    public static (string PaymentType, string AccountId)? Split(string streamId) =>
        streamId.Split('/', 2) is [var type, var account] ? (type, account) : null;
}
