using System.Text.Json.Serialization;

namespace Billing.Proxy.Live;

/// <summary>The first event sent to a page.</summary>
internal sealed record LiveHello
{
    /// <summary>The transport of commands: kafka, direct or embedded.</summary>
    public required string Transport { get; init; }

    /// <summary>The text to show in place of topics and consumer groups; null over Kafka.</summary>
    public required string? Instead { get; init; }

    /// <summary>The limit on calls in flight.</summary>
    public required int InFlightMax { get; init; }

    /// <summary>When recording began, in milliseconds since the Unix epoch.</summary>
    public required long Since { get; init; }

    /// <summary>The previous seconds, the oldest first.</summary>
    public required IReadOnlyList<LiveSecond> History { get; init; }
}

/// <summary>The event sent to every watching page each second.</summary>
internal sealed record LiveSnapshot
{
    /// <summary>When it was taken, in milliseconds since the Unix epoch.</summary>
    public required long At { get; init; }

    /// <summary>Number of calls in flight.</summary>
    public required int InFlight { get; init; }

    /// <summary>How many of them belong to streams.</summary>
    public required int OfStreams { get; init; }

    /// <summary>The last complete second.</summary>
    public required LiveSecond Second { get; init; }

    /// <summary>Latencies of the last ten seconds.</summary>
    public required LiveLatency Latency { get; init; }

    /// <summary>The state of the brokers; null if there are none, or there is no result yet.</summary>
    public required KafkaView? Kafka { get; init; }

    /// <summary>The last timed payments, the latest first.</summary>
    public required IReadOnlyList<TimedPayment> Payments { get; init; }

    /// <summary>The recent failures, the latest first.</summary>
    public required IReadOnlyList<Failed> Failures { get; init; }
}

/// <summary>One second.</summary>
/// <param name="At">Seconds since the Unix epoch.</param>
/// <param name="Answered">Number of commands answered.</param>
/// <param name="Failed">Number of calls that failed.</param>
/// <param name="InFlight">Number of calls in flight at its end.</param>
/// <param name="P50">The median latency, in milliseconds; null if nothing was answered.</param>
/// <param name="P99">The 99th percentile of the latency, in milliseconds; null if nothing was answered.</param>
internal sealed record LiveSecond(long At, int Answered, int Failed, int InFlight, double? P50, double? P99);

/// <summary>Percentiles of the latency in milliseconds; null if nothing was answered.</summary>
/// <param name="Count">Number of calls.</param>
/// <param name="P50">The median.</param>
/// <param name="P95">The 95th percentile.</param>
/// <param name="P99">The 99th percentile.</param>
internal sealed record LiveLatency(long Count, double? P50, double? P95, double? P99);

/// <summary>The state of the brokers.</summary>
internal sealed record KafkaView
{
    /// <summary>When all parts were last known, in milliseconds since the Unix epoch; 0 for never.</summary>
    public long At { get; init; }

    /// <summary>Why parts are outdated or missing; null if none is.</summary>
    public string? Problem { get; init; }

    /// <summary>The lag of each partition of the request topics.</summary>
    public IReadOnlyList<LiveTopic> Topics { get; init; } = [];

    /// <summary>The backends and the partitions assigned to them.</summary>
    public IReadOnlyList<LiveMember> Members { get; init; } = [];

    /// <summary>Number of dead letters; null if it is unknown.</summary>
    public long? DeadLetterCount { get; init; }

    /// <summary>The newest dead letters, the newest first.</summary>
    public IReadOnlyList<LiveLetter> DeadLetters { get; init; } = [];
}

/// <summary>A topic.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Lags">The lag of each partition, in the order of the partitions.</param>
internal sealed record LiveTopic(string Name, IReadOnlyList<long> Lags);

/// <summary>A backend.</summary>
/// <param name="Group">Its consumer group.</param>
/// <param name="Id">Its member id in the group.</param>
/// <param name="Host">The address that it connects from.</param>
/// <param name="Owns">Its assigned partitions, by topic.</param>
internal sealed record LiveMember(string Group, string Id, string Host, IReadOnlyDictionary<string, IReadOnlyList<int>> Owns);

/// <summary>A dead letter.</summary>
/// <param name="Id">Its position in the dead letter topic.</param>
/// <param name="At">When it was written, in milliseconds since the Unix epoch.</param>
/// <param name="Origin">The topic, partition and offset that it came from; empty if unknown.</param>
/// <param name="Reason">Why it is a dead letter.</param>
internal sealed record LiveLetter(string Id, long At, string Origin, string Reason);

/// <summary>Serialises the events of the live page.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(LiveHello))]
[JsonSerializable(typeof(LiveSnapshot))]
[JsonSerializable(typeof(TimedPayment))]
internal sealed partial class LiveJson : JsonSerializerContext;
