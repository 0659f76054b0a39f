using System.Diagnostics;
using System.Globalization;
using Billing.Hosting.Telemetry;
using Billing.Messaging.Telemetry;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>The spans of the producer and the consumer of a record, with the names and the tags of OpenTelemetry's
/// semantic conventions for messaging. The record's headers contain the context.</summary>
internal static class KafkaTracing
{
    /// <summary>Starts the send span of one or more records to one topic. It is a child of the current span and does
    /// not become the current span.</summary>
    public static Activity? StartSend(string topic, int count = 1)
    {
        var span = Start("send", ActivityKind.Producer, Tracing.Current, topic);
        if (count > 1)
        {
            span?.SetTag("messaging.batch.message_count", count);
        }
        return span;
    }

    /// <summary>Starts the span for the processing of a record.</summary>
    public static Activity? StartProcess<TKey, TValue>(ConsumeResult<TKey, TValue> record)
    {
        var span = Start(
            "process", ActivityKind.Consumer, WireHeaders.TraceContext(record.Message.Headers), record.Topic);
        if (span is { IsAllDataRequested: true })
        {
            span.SetTag(MessagingMetrics.Partition, record.Partition.Value.ToString(CultureInfo.InvariantCulture));
            span.SetTag("kafka.offset", record.Offset.Value);
        }
        return span;
    }

    private static Activity? Start(string operation, ActivityKind kind, ActivityContext parent, string topic)
    {
        if (parent == default)
        {
            return null;
        }
        var name = MessagingMetrics.NameOf(topic);
        var span = Tracing.Start($"{operation} {name}", kind, parent);
        if (span is { IsAllDataRequested: true })
        {
            span.SetTag("messaging.system.name", "kafka");
            span.SetTag("messaging.operation.name", operation);
            span.SetTag("messaging.operation.type", operation);
            span.SetTag(MessagingMetrics.Destination, topic);
            if (name != topic)
            {
                span.SetTag("messaging.destination.template", name);
            }
        }
        return span;
    }
}
