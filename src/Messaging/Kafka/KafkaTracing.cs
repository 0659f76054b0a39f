using System.Diagnostics;
using System.Text;
using Billing.Messaging.Telemetry;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka;

/// <summary>Traces over Kafka: the context travels in a record's headers, as W3C has it, and both ends have a span, named and
/// tagged as OpenTelemetry's conventions for messaging say. Where nothing is traced no record has a header more.</summary>
internal static class KafkaTracing
{
    private const string TraceStateHeader = "tracestate";

    /// <summary>Starts the span of a record, or of several to one topic, that are handed to the client. It is a child of the
    /// current span, and does not become the current one.</summary>
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

    /// <summary>The context that a record hands on; the default where nothing is traced.</summary>
    /// <param name="span">The span of its sending; null for one that has none, so that whatever is the current one is handed on.</param>
    public static ActivityContext ContextOf(Activity? span) => span?.Context ?? Tracing.Current;

    /// <summary>Hands a context on with a record.</summary>
    public static void Inject(Headers headers, ActivityContext context)
    {
        headers.Add(WireFormat.TraceParentHeader, Encoding.ASCII.GetBytes(Tracing.TraceParent(context)));
        if (context.TraceState is { Length: > 0 } state)
        {
            headers.Add(TraceStateHeader, Encoding.ASCII.GetBytes(state));
        }
    }

    /// <summary>The context that a record came with; the default where it has none that is sampled.</summary>
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

    /// <summary>Starts the span of a record's processing.</summary>
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
