using System.Globalization;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Ids of proxies: the start time in seconds and a random part, e.g. <c>20260131T120000Z-5f2c9a10</c>.
/// A sweep uses the start time to distinguish a new reply topic from an abandoned one.</summary>
public static class ProxyId
{
    private const string StartFormat = "yyyyMMdd'T'HHmmss'Z'";

    /// <summary>Creates an id.</summary>
    public static string Create(TimeProvider time) =>
        $"{time.GetUtcNow().UtcDateTime.ToString(StartFormat, CultureInfo.InvariantCulture)}-{Guid.NewGuid():N}"[..25];

    /// <summary>Parses the start time of the proxy from the name of its reply topic.</summary>
    public static bool TryReadStart(string topic, out DateTimeOffset start)
    {
        start = default;
        if (!topic.StartsWith(Topics.ReplyPrefix, StringComparison.Ordinal))
        {
            return false;
        }
        var id = topic.AsSpan(Topics.ReplyPrefix.Length);
        var dash = id.IndexOf('-');
        return dash > 0 && DateTimeOffset.TryParseExact(id[..dash], StartFormat, CultureInfo.InvariantCulture,
            DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal, out start);
    }
}
