using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Billing.Messaging.Telemetry;

/// <summary>What the transports measure; names and tags as OpenTelemetry's conventions for messaging have them, where they
/// do. Instruments that nobody listens to cost a comparison.</summary>
public static class MessagingMetrics
{
    /// <summary>The meter's name.</summary>
    public const string MeterName = "Billing.Messaging";

    /// <summary>The tag that says which topic.</summary>
    public const string Destination = "messaging.destination.name";

    /// <summary>The tag that says which partition.</summary>
    public const string Partition = "messaging.destination.partition.id";

    /// <summary>What stands for every proxy's reply topic: names that come and go would be series that only grow.</summary>
    public const string ReplyTopics = "billing.replies.{proxy}";

    /// <summary>Bounds of durations, in seconds.</summary>
    public static IReadOnlyList<double> DurationBounds { get; } =
        [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

    private static readonly KeyValuePair<string, object?> Kafka = new("messaging.system", "kafka");
    private static readonly KeyValuePair<string, object?> SendName = new("messaging.operation.name", "send");
    private static readonly KeyValuePair<string, object?> SendType = new("messaging.operation.type", "send");
    private static readonly KeyValuePair<string, object?> PollName = new("messaging.operation.name", "poll");
    private static readonly KeyValuePair<string, object?> ProcessName = new("messaging.operation.name", "process");

    private static readonly Meter Meter = new(MeterName);

    private static readonly Histogram<double> Sending = Meter.CreateHistogram(
        "messaging.client.operation.duration", "s", "From handing a record to the client until the brokers have acknowledged it, or have not.",
        advice: new InstrumentAdvice<double> { HistogramBucketBoundaries = DurationBounds });

    private static readonly Counter<long> Consumed = Meter.CreateCounter<long>(
        "messaging.client.consumed.messages", "{message}", "Records read.");

    private static readonly Histogram<double> Processing = Meter.CreateHistogram(
        "messaging.process.duration", "s", "From reading a command until its answer is acknowledged and it is settled.",
        advice: new InstrumentAdvice<double> { HistogramBucketBoundaries = DurationBounds });

    private static readonly Counter<long> DeadLettered = Meter.CreateCounter<long>(
        "billing.dead_letters", "{record}", "Records put aside, by why: refused, unreadable or unprocessable.");

    /// <summary>The moment to hand to <see cref="Sent"/> and <see cref="Processed"/>; 0 where nobody listens.</summary>
    public static long Now => Sending.Enabled || Processing.Enabled ? Stopwatch.GetTimestamp() : 0;

    /// <summary>The name under which a topic is counted.</summary>
    public static string NameOf(string topic) =>
        topic.StartsWith(Contracts.Topics.ReplyPrefix, StringComparison.Ordinal) ? ReplyTopics : topic;

    /// <summary>A record was acknowledged, or refused.</summary>
    /// <param name="topic">Its topic.</param>
    /// <param name="since">When it was handed over.</param>
    /// <param name="error">Why it was not taken; null where it was.</param>
    public static void Sent(string topic, long since, string? error)
    {
        if (since == 0 || !Sending.Enabled)
        {
            return;
        }
        var tags = new TagList { Kafka, SendName, SendType, new(Destination, NameOf(topic)) };
        if (error is not null)
        {
            tags.Add("error.type", error);
        }
        Sending.Record(Stopwatch.GetElapsedTime(since).TotalSeconds, tags);
    }

    /// <summary>Records were read.</summary>
    public static void Read(string topic, int count = 1)
    {
        if (Consumed.Enabled)
        {
            Consumed.Add(count, new TagList { Kafka, PollName, new(Destination, NameOf(topic)) });
        }
    }

    /// <summary>A command is settled.</summary>
    public static void Processed(string topic, long since)
    {
        if (since != 0 && Processing.Enabled)
        {
            Processing.Record(
                Stopwatch.GetElapsedTime(since).TotalSeconds, new TagList { Kafka, ProcessName, new(Destination, topic) });
        }
    }

    /// <summary>Begins to count what a topic's records may be put aside for: that none was is a figure, too.</summary>
    public static void Expect(string topic)
    {
        foreach (var why in (string[])["refused", "unreadable", "unprocessable"])
        {
            DeadLettered.Add(0, new(Destination, topic), new("error.type", why));
        }
    }

    /// <summary>A record was put aside.</summary>
    /// <param name="topic">Where it came from.</param>
    /// <param name="why">A word of few.</param>
    public static void PutAside(string topic, string why) =>
        DeadLettered.Add(1, new(Destination, topic), new("error.type", why));
}
