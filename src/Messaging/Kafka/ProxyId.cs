using System.Globalization;
using Billing.Contracts;

namespace Billing.Messaging.Kafka;

/// <summary>Ids of proxies: their start, to the second, and something random, e.g. <c>20260131T120000Z-5f2c9a10</c>. The
/// start lets a sweep tell a new topic from an abandoned one.</summary>
public static class ProxyId
{
    private const string StartFormat = "yyyyMMdd'T'HHmmss'Z'";

    /// <summary>A new id.</summary>
    public static string Create(TimeProvider time) =>
        $"{time.GetUtcNow().UtcDateTime.ToString(StartFormat, CultureInfo.InvariantCulture)}-{Guid.NewGuid():N}"[..25];

    /// <summary>Reads the start of the proxy that a reply topic belongs to.</summary>
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
