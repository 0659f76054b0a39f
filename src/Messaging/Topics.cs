using System.Collections.Frozen;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.V1;

namespace Billing.Messaging;

/// <summary>Names of the Kafka topics: one request topic for each payment type and kind of request, one reply topic for
/// each proxy, and three shared topics.</summary>
public static class Topics
{
    /// <summary>The prefix of every reply topic; a backend sends answers to no other topic.</summary>
    public const string ReplyPrefix = "billing.replies.";

    /// <summary>The topic of the events of all accounts, keyed by stream id.</summary>
    public const string Events = "billing.events";

    /// <summary>The topic of records that could not be read or processed, with their origin and the
    /// reason in headers.</summary>
    public const string DeadLetters = "billing.dead-letters";

    /// <summary>The topic of empty records, which services write to learn the brokers' time. Nobody reads it.</summary>
    public const string Clocks = "billing.clocks";

    private static readonly FrozenDictionary<PaymentType, string> PaymentTopics = OfEach("billing.payments.");
    private static readonly FrozenDictionary<PaymentType, string> BalanceTopics = OfEach("billing.balances.");

    /// <summary>The topics that carry payments, one for each payment type.</summary>
    public static IReadOnlyList<string> AllPayments { get; } = [.. PaymentTypes.All.Select(Payments)];

    /// <summary>The topics that carry balance checks, one for each payment type.</summary>
    public static IReadOnlyList<string> AllBalances { get; } = [.. PaymentTypes.All.Select(Balances)];

    /// <summary>All topics that carry commands.</summary>
    public static IReadOnlyList<string> AllRequests { get; } = [.. AllPayments, .. AllBalances];

    /// <summary>The topic of a payment type's payments, e.g. <c>billing.payments.visa</c>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The type has no topic.</exception>
    public static string Payments(PaymentType type) =>
        PaymentTopics.TryGetValue(type, out var topic) ? topic : throw NoTopic(type);

    /// <summary>The topic of a payment type's balance checks, e.g. <c>billing.balances.visa</c>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The type has no topic.</exception>
    public static string Balances(PaymentType type) =>
        BalanceTopics.TryGetValue(type, out var topic) ? topic : throw NoTopic(type);

    /// <summary>The topic of the commands of a route.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The payment type has no topic.</exception>
    public static string Of(CommandRoute route) =>
        route.IsWrite ? Payments(route.PaymentType) : Balances(route.PaymentType);

    /// <summary>The reply topic of one proxy.</summary>
    public static string Replies(string proxyId) => ReplyPrefix + proxyId;

    /// <summary>Whether the name is a valid reply topic, so that a command may ask for its answer there.</summary>
    public static bool IsReplyTopic(string topic) =>
        topic.Length is > 16 and <= 249
        && topic.StartsWith(ReplyPrefix, StringComparison.Ordinal)
        && topic.AsSpan(ReplyPrefix.Length).IndexOfAnyExcept(ReplyIdCharacters) < 0;

    private static FrozenDictionary<PaymentType, string> OfEach(string prefix) =>
        PaymentTypes.All.ToFrozenDictionary(type => type, type => prefix + PaymentTypes.NameOf(type));

    private static ArgumentOutOfRangeException NoTopic(PaymentType type) =>
        new(nameof(type), type, "This payment type has no topic.");

    private static readonly System.Buffers.SearchValues<char> ReplyIdCharacters =
        System.Buffers.SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
}
