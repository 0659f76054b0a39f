using System.Diagnostics;
using System.Text;
using Billing.Hosting.Telemetry;
using Billing.Messaging.Telemetry;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Tracing over Kafka: a record's headers contain the W3C trace context, and the producer and the consumer each have a
/// span with the name and the tags of OpenTelemetry's semantic conventions for messaging. Untraced records have no additional
/// headers.</summary>
internal static class KafkaTracing
{
    private const string TraceStateHeader = "tracestate";

    /// <summary>Starts the send span of one or more records to one topic. It is a child of the current span and does not become
    /// the current span.</summary>
    public static Activity? StartSend(string topic, int count = 1)
    {
        var parent = Tracing.Current;
        if (parent == default)
        {
            return null;
        }
        var name = MessagingMetrics.NameOf(topic);
        var span = Tracing.Start("send " + name, ActivityKind.Producer, parent);
        if (span is { IsAllDataRequested: true })
        {
            span.SetTag("messaging.system", "kafka");
            span.SetTag("messaging.operation.name", "send");
            span.SetTag("messaging.operation.type", "send");
            span.SetTag(MessagingMetrics.Destination, topic);
            if (count > 1)
            {
                span.SetTag("messaging.batch.message_count", count);
            }
            if (name != topic)
            {
                span.SetTag("messaging.destination.template", name);
            }
        }
        return span;
    }

    /// <summary>Returns the context to propagate with a record; the default if nothing is traced.</summary>
    /// <param name="span">The send span; if null, the current context is propagated.</param>
    public static ActivityContext ContextOf(Activity? span) => span?.Context ?? Tracing.Current;

    /// <summary>Adds a context to a record's headers.</summary>
    public static void Inject(Headers headers, ActivityContext context)
    {
        headers.Add(WireFormat.TraceParentHeader, Encoding.ASCII.GetBytes(Tracing.TraceParent(context)));
        if (context.TraceState is { Length: > 0 } state)
        {
            headers.Add(TraceStateHeader, Encoding.ASCII.GetBytes(state));
        }
    }

    /// <summary>Returns the context in a record's headers; the default if it has no sampled one.</summary>
    public static ActivityContext Extract(Headers? headers)
    {
        if (headers is null || !headers.TryGetLastBytes(WireFormat.TraceParentHeader, out var parent) || parent is null)
        {
            return default;
        }
        return Tracing.Parse(
            Encoding.ASCII.GetString(parent),
            headers.TryGetLastBytes(TraceStateHeader, out var state) && state is not null ? Encoding.ASCII.GetString(state) : null);
    }

    /// <summary>Starts the span for the processing of a record.</summary>
    public static Activity? StartProcess<TKey, TValue>(ConsumeResult<TKey, TValue> record)
    {
        var parent = Extract(record.Message.Headers);
        if (parent == default)
        {
            return null;
        }
        var name = MessagingMetrics.NameOf(record.Topic);
        var span = Tracing.Start("process " + name, ActivityKind.Consumer, parent);
        if (span is { IsAllDataRequested: true })
        {
            span.SetTag("messaging.system", "kafka");
            span.SetTag("messaging.operation.name", "process");
            span.SetTag("messaging.operation.type", "process");
            span.SetTag(MessagingMetrics.Destination, record.Topic);
            span.SetTag(MessagingMetrics.Partition, record.Partition.Value.ToString(System.Globalization.CultureInfo.InvariantCulture));
            span.SetTag("messaging.kafka.offset", record.Offset.Value);
        }
        return span;
    }
}
