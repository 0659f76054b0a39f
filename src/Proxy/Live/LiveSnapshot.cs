using System.Text.Json.Serialization;

namespace Billing.Proxy.Live;

// The events of the live page. Every time named At or Since is in milliseconds since the Unix epoch, and every latency
// in milliseconds; percentiles are null if nothing was answered.

/// <summary>The first event sent to a page: the transport, the text to show in place of topics and consumer groups
/// (null over Kafka), when recording began, and the previous seconds, the oldest first.</summary>
internal sealed record LiveHello(
    string Transport, string? Instead, int InFlightMax, long Since, IReadOnlyList<LiveSecond> History);

/// <summary>The event sent to every watching page about each second: the last ten complete seconds, the oldest first,
/// so that a page misses none if an event is late, the latency of the ten, the state of the brokers (null if there are
/// none, or it is not known yet), and the last timed payments and failures, the latest first.</summary>
internal sealed record LiveSnapshot(
    long At, int InFlight, int OfStreams, IReadOnlyList<LiveSecond> Seconds, LiveLatency Latency, KafkaView? Kafka,
    IReadOnlyList<TimedPayment> Payments, IReadOnlyList<Failed> Failures);

/// <summary>One second: commands answered and calls failed in it, and calls in flight at its end.
/// At is in seconds since the Unix epoch.</summary>
internal sealed record LiveSecond(long At, int Answered, int Failed, int InFlight, double? P50, double? P99);

internal sealed record LiveLatency(long Count, double? P50, double? P95, double? P99);

/// <summary>A kind of failure: what happened the last time, when that was, and how often it happened.
/// Reason may be empty.</summary>
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

/// <summary>A backend: its consumer group, its member id in it, the address that it connects from, and its
/// partitions by topic.</summary>
internal sealed record LiveMember(
    string Group, string Id, string Host, IReadOnlyDictionary<string, IReadOnlyList<int>> Owns);

/// <summary>A dead letter. Its id is its position in the dead letter topic, its origin the topic, partition and offset
/// that it came from; empty if unknown.</summary>
internal sealed record LiveLetter(string Id, long At, string Origin, string Reason);

/// <summary>Serialises the events of the live page.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(LiveHello))]
[JsonSerializable(typeof(LiveSnapshot))]
[JsonSerializable(typeof(TimedPayment))]
internal sealed partial class LiveJson : JsonSerializerContext;
