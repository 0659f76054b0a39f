using System.Diagnostics;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>The wire contract's headers on a Kafka record.</summary>
internal static class WireHeaders
{
    /// <summary>The headers of untraced records: one shared object, which must not be changed.</summary>
    public static Headers Version { get; } = New();

    /// <summary>Returns the headers of a record with the given send span.</summary>
    /// <param name="span">The send span; null if there is none.</param>
    public static Headers For(Activity? span)
    {
        var context = KafkaTracing.ContextOf(span);
        if (context == default)
        {
            return Version;
        }
        var headers = New();
        KafkaTracing.Inject(headers, context);
        return headers;
    }

    /// <summary>Returns the value of the version header; empty if the record has none.</summary>
    public static ReadOnlySpan<byte> WireVersion<TKey, TValue>(this ConsumeResult<TKey, TValue> record) =>
        record.Message.Headers.TryGetLastBytes(WireFormat.VersionHeader, out var version) ? version : [];

    private static Headers New() => new() { { WireFormat.VersionHeader, WireFormat.VersionBytes.ToArray() } };
}
