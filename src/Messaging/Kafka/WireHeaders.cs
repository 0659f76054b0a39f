using System.Diagnostics;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka;

/// <summary>The wire contract's headers on a Kafka record.</summary>
internal static class WireHeaders
{
    /// <summary>Those of a record that is not traced: one object for all of them, which nobody adds to.</summary>
    public static Headers Version { get; } = New();

    /// <summary>Those of a record whose sending has a span, or null.</summary>
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

    /// <summary>The value of the version header; empty where the record has none.</summary>
    public static ReadOnlySpan<byte> WireVersion<TKey, TValue>(this ConsumeResult<TKey, TValue> record) =>
        record.Message.Headers.TryGetLastBytes(WireFormat.VersionHeader, out var version) ? version : [];

    private static Headers New() => new() { { WireFormat.VersionHeader, WireFormat.VersionBytes.ToArray() } };
}
