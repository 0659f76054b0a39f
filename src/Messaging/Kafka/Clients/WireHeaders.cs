using System.Diagnostics;
using System.Text;
using Billing.Hosting.Telemetry;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>The headers on a Kafka record: the wire contract's version and, if the record is traced,
/// the W3C trace context.</summary>
internal static class WireHeaders
{
    private const string TraceStateHeader = "tracestate";

    /// <summary>The headers of untraced records: one shared object, which must not be changed.</summary>
    public static Headers Version { get; } = New();

    /// <summary>Returns the headers of a record with the given send span; if it is null,
    /// with the current context.</summary>
    public static Headers For(Activity? span)
    {
        var context = span?.Context ?? Tracing.Current;
        if (context == default)
        {
            return Version;
        }
        var headers = New();
        headers.Add(WireFormat.TraceParentHeader, Encoding.ASCII.GetBytes(Tracing.TraceParent(context)));
        if (context.TraceState is { Length: > 0 } state)
        {
            headers.Add(TraceStateHeader, Encoding.ASCII.GetBytes(state));
        }
        return headers;
    }

    /// <summary>Returns the value of the version header; empty if the record has none.</summary>
    public static ReadOnlySpan<byte> WireVersion<TKey, TValue>(this ConsumeResult<TKey, TValue> record) =>
        record.Message.Headers.TryGetLastBytes(WireFormat.VersionHeader, out var version) ? version : [];

    /// <summary>Returns the trace context in a record's headers; the default if it has no sampled one.</summary>
    public static ActivityContext TraceContext(Headers? headers)
    {
        if (headers is null || !headers.TryGetLastBytes(WireFormat.TraceParentHeader, out var parent) || parent is null)
        {
            return default;
        }
        return Tracing.Parse(
            Encoding.ASCII.GetString(parent),
            headers.TryGetLastBytes(TraceStateHeader, out var state) && state is not null
                ? Encoding.ASCII.GetString(state)
                : null);
    }

    private static Headers New() => new() { { WireFormat.VersionHeader, WireFormat.VersionBytes.ToArray() } };
}
