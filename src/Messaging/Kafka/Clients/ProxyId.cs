using System.Globalization;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Ids of proxies: the start time in seconds and a random part, e.g. <c>20260131T120000Z-5f2c9a10</c>.
/// A sweep uses the start time to distinguish a new reply topic from an abandoned one.</summary>
public static class ProxyId
{
    private const string StartFormat = "yyyyMMdd'T'HHmmss'Z'";
    private const int StartLength = 16;
    private const int Length = StartLength + 1 + 8;

    /// <summary>The greatest length of a proxy's name.</summary>
    public const int NameLengthMax = 64;

    /// <summary>Creates an id.</summary>
    public static string Create(TimeProvider time) =>
        $"{time.GetUtcNow().UtcDateTime.ToString(StartFormat, CultureInfo.InvariantCulture)}-{Guid.NewGuid():N}"
            [..Length];

    /// <summary>The reply topic of a proxy.</summary>
    /// <param name="name">The proxy's name (<see cref="KafkaOptions.ProxyName"/>); empty for none.</param>
    /// <param name="id">Its id.</param>
    public static string ReplyTopic(string name, string id) => Topics.Replies(name.Length == 0 ? id : $"{name}.{id}");

    /// <summary>Whether a text can be a proxy's name: at most 64 of the characters <c>A-Z a-z 0-9 _ -</c>. It has no
    /// dot, so that no name and its dot are the beginning of another one.</summary>
    public static bool IsName(string text) =>
        text.Length is > 0 and <= NameLengthMax
        && text.All(character => char.IsAsciiLetterOrDigit(character) || character is '_' or '-');

    /// <summary>Parses the start time of the proxy from the name of its reply topic.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="name">The name of the proxy, empty for none; a topic of another one has no start time.</param>
    /// <param name="start">The start time.</param>
    public static bool TryReadStart(string topic, string name, out DateTimeOffset start)
    {
        start = default;
        var prefix = ReplyTopic(name, "");
        if (!topic.StartsWith(prefix, StringComparison.Ordinal))
        {
            return false;
        }
        var id = topic.AsSpan(prefix.Length);
        return id.Length == Length && id[StartLength] == '-'
            && DateTimeOffset.TryParseExact(id[..StartLength], StartFormat, CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal, out start);
    }
}
