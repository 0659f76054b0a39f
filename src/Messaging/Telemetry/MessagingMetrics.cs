using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Billing.Messaging.Telemetry;

/// <summary>Metrics of the transports. Names and tags follow OpenTelemetry's semantic conventions for messaging where
/// these define them. A disabled instrument costs one comparison.</summary>
public static class MessagingMetrics
{
    /// <summary>The meter's name.</summary>
    public const string MeterName = "Billing.Messaging";

    /// <summary>The tag with the name of the topic.</summary>
    internal const string Destination = "messaging.destination.name";

    /// <summary>The tag with the id of the partition.</summary>
    internal const string Partition = "messaging.destination.partition.id";

    /// <summary>The common name for the reply topics of all proxies: with a name for each, the number of
    /// series would only grow.</summary>
    public const string ReplyTopics = "billing.replies.{proxy}";

    /// <summary>Bucket boundaries of durations, in seconds.</summary>
    public static IReadOnlyList<double> DurationBounds { get; } =
        [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

    private static readonly KeyValuePair<string, object?> Kafka = new("messaging.system.name", "kafka");
    private static readonly KeyValuePair<string, object?> SendName = new("messaging.operation.name", "send");
    private static readonly KeyValuePair<string, object?> SendType = new("messaging.operation.type", "send");
    private static readonly KeyValuePair<string, object?> PollName = new("messaging.operation.name", "poll");
    private static readonly KeyValuePair<string, object?> ProcessName = new("messaging.operation.name", "process");

    private static readonly Meter Meter = new(MeterName);

    private static readonly Histogram<double> SendDuration = Meter.CreateHistogram(
        "messaging.client.operation.duration", "s",
        "Time from handing a record to the client until it is acknowledged or rejected.",
        advice: new InstrumentAdvice<double> { HistogramBucketBoundaries = DurationBounds });

    private static readonly Counter<long> Consumed = Meter.CreateCounter<long>(
        "messaging.client.consumed.messages", "{message}", "Number of records read.");

    private static readonly Histogram<double> ProcessDuration = Meter.CreateHistogram(
        "messaging.process.duration", "s", "From reading a command until its answer is acknowledged and it is settled.",
        advice: new InstrumentAdvice<double> { HistogramBucketBoundaries = DurationBounds });

    private static readonly Gauge<double> ClientWait = Meter.CreateGauge<double>(
        "billing.kafka.client.wait", "s",
        "Waits within the Kafka client, by client, wait (queue, socket, round_trip) and percentile; "
            + "only with Billing:Kafka:StatisticsInterval.");

    private static readonly Counter<long> DeadLettered = Meter.CreateCounter<long>(
        "billing.dead_letters", "{record}",
        "Records sent to the dead letters, by reason: refused, unreadable or unprocessable.");

    private static readonly Counter<long> Missed = Meter.CreateCounter<long>(
        "billing.kafka.consumer.missed", "{record}",
        "Records that the brokers deleted or lost before a member of a group had read them.");

    private static readonly Counter<long> Restarts = Meter.CreateCounter<long>(
        "billing.kafka.consumer.restarts", "{partition}",
        "Partitions read again from an earlier offset, since the topic was created again or its end was lost.");

    /// <summary>The start timestamp for <see cref="Sent"/> and <see cref="Processed"/>;
    /// 0 if both are disabled.</summary>
    internal static long Now => SendDuration.Enabled || ProcessDuration.Enabled ? Stopwatch.GetTimestamp() : 0;

    /// <summary>Returns the name of a topic in the tags.</summary>
    public static string NameOf(string topic) =>
        topic.StartsWith(Topics.ReplyPrefix, StringComparison.Ordinal) ? ReplyTopics : topic;

    /// <summary>Records that a record, handed to the client at <paramref name="since"/> (see <see cref="Now"/>),
    /// was acknowledged by the brokers, or rejected with an error.</summary>
    internal static void Sent(string topic, long since, string? error)
    {
        if (since == 0 || !SendDuration.Enabled)
        {
            return;
        }
        var tags = new TagList { Kafka, SendName, SendType, new(Destination, NameOf(topic)) };
        if (error is not null)
        {
            tags.Add("error.type", error);
        }
        SendDuration.Record(Stopwatch.GetElapsedTime(since).TotalSeconds, tags);
    }

    /// <summary>Counts records that were read.</summary>
    internal static void Read(string topic, int count = 1)
    {
        if (Consumed.Enabled)
        {
            Consumed.Add(count, new TagList { Kafka, PollName, new(Destination, NameOf(topic)) });
        }
    }

    /// <summary>Counts records that were gone before they were read.</summary>
    internal static void CountMissed(string topic, long count) =>
        Missed.Add(count, new KeyValuePair<string, object?>(Destination, topic));

    /// <summary>Counts a partition that is read again from an earlier offset.</summary>
    internal static void CountRestart(string topic) =>
        Restarts.Add(1, new KeyValuePair<string, object?>(Destination, topic));

    /// <summary>Measures the processing time of a command that is settled.</summary>
    internal static void Processed(string topic, long since)
    {
        if (since != 0 && ProcessDuration.Enabled)
        {
            ProcessDuration.Record(
                Stopwatch.GetElapsedTime(since).TotalSeconds,
                new TagList { Kafka, ProcessName, new(Destination, topic) });
        }
    }

    /// <summary>Publishes a percentile of a wait within a Kafka client. Prometheus keeps the label "quantile" for
    /// summaries.</summary>
    internal static void Waited(string client, string wait, string percentile, double seconds) =>
        ClientWait.Record(
            seconds, new("messaging.client.id", client), new("wait", wait), new("percentile", percentile));

    /// <summary>Initialises a topic's dead-letter counters with zero, so that they are exported
    /// before the first one.</summary>
    internal static void InitialiseDeadLetters(string topic)
    {
        foreach (var reason in (string[])["refused", "unreadable", "unprocessable"])
        {
            DeadLettered.Add(0, new(Destination, topic), new("error.type", reason));
        }
    }

    /// <summary>Counts a record that was read from a topic and sent to the dead letters as refused,
    /// unreadable or unprocessable.</summary>
    internal static void CountDeadLetter(string topic, string reason) =>
        DeadLettered.Add(1, new(Destination, topic), new("error.type", reason));
}
