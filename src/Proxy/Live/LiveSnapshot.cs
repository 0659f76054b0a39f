using System.Text.Json.Serialization;

namespace Billing.Proxy.Live;

// The events of the live page. Every time named At or Since is in milliseconds since the Unix epoch, and every latency in milliseconds;
// percentiles are null if nothing was answered.

/// <summary>The first event sent to a page.</summary>
/// <param name="Transport">The transport of commands: kafka, direct or embedded.</param>
/// <param name="Instead">The text to show in place of topics and consumer groups; null over Kafka.</param>
/// <param name="InFlightMax">The limit on calls in flight.</param>
/// <param name="Since">When recording began.</param>
/// <param name="History">The previous seconds, the oldest first.</param>
internal sealed record LiveHello(string Transport, string? Instead, int InFlightMax, long Since, IReadOnlyList<LiveSecond> History);

/// <summary>The event sent to every watching page each second.</summary>
/// <param name="At">When it was taken.</param>
/// <param name="InFlight">Number of calls in flight.</param>
/// <param name="OfStreams">How many of them belong to streams.</param>
/// <param name="Second">The last complete second.</param>
/// <param name="Latency">Of the last ten seconds.</param>
/// <param name="Kafka">Null if there are no brokers, or there is no result yet.</param>
/// <param name="Payments">The last timed payments, the latest first.</param>
/// <param name="Failures">The recent failures, the latest first.</param>
internal sealed record LiveSnapshot(
    long At, int InFlight, int OfStreams, LiveSecond Second, LiveLatency Latency, KafkaView? Kafka, IReadOnlyList<TimedPayment> Payments,
    IReadOnlyList<Failed> Failures);

/// <summary>One second: commands answered and calls failed in it, and calls in flight at its end. At is in seconds since the Unix
/// epoch.</summary>
internal sealed record LiveSecond(long At, int Answered, int Failed, int InFlight, double? P50, double? P99);

internal sealed record LiveLatency(long Count, double? P50, double? P95, double? P99);

/// <summary>A kind of failure: what happened the last time, when that was, and how often it happened. Reason may be empty.</summary>
internal sealed record Failed(string Method, string Status, string Reason, string Detail, long At, long Count);

/// <summary>The state of the brokers.</summary>
internal sealed record KafkaView
{
    /// <summary>When all parts were last known; 0 for never.</summary>
    public long At { get; init; }

    /// <summary>Why parts are outdated or missing; null if none is.</summary>
    public string? Problem { get; init; }

    public IReadOnlyList<LiveTopic> Topics { get; init; } = [];

    public IReadOnlyList<LiveMember> Members { get; init; } = [];

    /// <summary>Null if it is unknown.</summary>
    public long? DeadLetterCount { get; init; }

    /// <summary>The newest dead letters, the newest first.</summary>
    public IReadOnlyList<LiveLetter> DeadLetters { get; init; } = [];
}

/// <summary>A request topic, and the lag of each partition in the order of the partitions.</summary>
internal sealed record LiveTopic(string Name, IReadOnlyList<long> Lags);

/// <summary>A backend: its consumer group, its member id in it, the address that it connects from, and its partitions by topic.</summary>
internal sealed record LiveMember(string Group, string Id, string Host, IReadOnlyDictionary<string, IReadOnlyList<int>> Owns);

/// <summary>A dead letter. Its id is its position in the dead letter topic, its origin the topic, partition and offset that it came
/// from; empty if unknown.</summary>
internal sealed record LiveLetter(string Id, long At, string Origin, string Reason);

/// <summary>Serialises the events of the live page.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(LiveHello))]
[JsonSerializable(typeof(LiveSnapshot))]
[JsonSerializable(typeof(TimedPayment))]
internal sealed partial class LiveJson : JsonSerializerContext;
