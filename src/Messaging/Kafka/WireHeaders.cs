using Confluent.Kafka;

namespace Billing.Messaging.Kafka;

/// <summary>The wire contract's headers on a Kafka record.</summary>
internal static class WireHeaders
{
    /// <summary>The value of the version header; empty where the record has none.</summary>
    public static ReadOnlySpan<byte> WireVersion<TKey, TValue>(this ConsumeResult<TKey, TValue> record) =>
        record.Message.Headers.TryGetLastBytes(WireFormat.VersionHeader, out var version) ? version : [];
}
