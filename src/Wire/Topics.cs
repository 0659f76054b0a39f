using Billing.V1;

namespace Billing.Contracts;

/// <summary>Names of the Kafka topics: one request topic for each payment type and kind of request, one reply topic for
/// each proxy, and two that everyone shares.</summary>
public static class Topics
{
    /// <summary>What every reply topic begins with; a backend answers to no other topic.</summary>
    public const string ReplyPrefix = "billing.replies.";

    /// <summary>The facts of all accounts, keyed by stream id.</summary>
    public const string Events = "billing.events";

    /// <summary>Records that could not be read or processed, with their origin and the reason in headers.</summary>
    public const string DeadLetters = "billing.dead-letters";

    /// <summary>The topics that carry payments, one a payment type.</summary>
    public static IReadOnlyList<string> AllPayments { get; } = [.. PaymentTypes.All.Select(Payments)];

    /// <summary>The topics that carry balance checks, one a payment type.</summary>
    public static IReadOnlyList<string> AllBalances { get; } = [.. PaymentTypes.All.Select(Balances)];

    /// <summary>The eight topics that carry commands.</summary>
    public static IReadOnlyList<string> AllRequests { get; } = [.. AllPayments, .. AllBalances];

    /// <summary>The topic of a payment type's payments, e.g. <c>billing.payments.visa</c>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The type has no topic.</exception>
    public static string Payments(PaymentType type) => type switch
    {
        PaymentType.Visa => "billing.payments.visa",
        PaymentType.Mastercard => "billing.payments.mastercard",
        PaymentType.Discover => "billing.payments.discover",
        PaymentType.Amex => "billing.payments.amex",
        _ => throw new ArgumentOutOfRangeException(nameof(type), type, "This payment type has no topic."),
    };

    /// <summary>The topic of a payment type's balance checks, e.g. <c>billing.balances.visa</c>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The type has no topic.</exception>
    public static string Balances(PaymentType type) => type switch
    {
        PaymentType.Visa => "billing.balances.visa",
        PaymentType.Mastercard => "billing.balances.mastercard",
        PaymentType.Discover => "billing.balances.discover",
        PaymentType.Amex => "billing.balances.amex",
        _ => throw new ArgumentOutOfRangeException(nameof(type), type, "This payment type has no topic."),
    };

    /// <summary>The reply topic of one proxy.</summary>
    public static string Replies(string proxyId) => ReplyPrefix + proxyId;

    /// <summary>Whether a command may ask for its answer on this topic.</summary>
    public static bool IsReplyTopic(string topic) =>
        topic.Length is > 16 and <= 249
        && topic.StartsWith(ReplyPrefix, StringComparison.Ordinal)
        && topic.AsSpan(ReplyPrefix.Length).IndexOfAnyExcept(ReplyIdCharacters) < 0;

    private static readonly System.Buffers.SearchValues<char> ReplyIdCharacters =
        System.Buffers.SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
}
