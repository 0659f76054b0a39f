using System.Text.Json.Serialization;

namespace Billing.Proxy.Live;

/// <summary>What a page is told when it begins to watch.</summary>
internal sealed record LiveHello
{
    /// <summary>How commands travel: kafka, direct or embedded.</summary>
    public required string Transport { get; init; }

    /// <summary>What there is in place of topics and groups; null over Kafka.</summary>
    public required string? Instead { get; init; }

    /// <summary>Calls that may be in flight.</summary>
    public required int InFlightMax { get; init; }

    /// <summary>When recording began, in milliseconds since the Unix epoch.</summary>
    public required long Since { get; init; }

    /// <summary>The seconds before this one, the oldest first.</summary>
    public required IReadOnlyList<LiveSecond> History { get; init; }
}

/// <summary>What every watching page is told each second.</summary>
internal sealed record LiveSnapshot
{
    /// <summary>When, in milliseconds since the Unix epoch.</summary>
    public required long At { get; init; }

    /// <summary>Calls in flight.</summary>
    public required int InFlight { get; init; }

    /// <summary>Those of streams among them.</summary>
    public required int OfStreams { get; init; }

    /// <summary>The last second that is over.</summary>
    public required LiveSecond Second { get; init; }

    /// <summary>Latencies of the last ten seconds.</summary>
    public required LiveLatency Latency { get; init; }

    /// <summary>What the brokers say; null where there are none, or they were not asked yet.</summary>
    public required KafkaView? Kafka { get; init; }

    /// <summary>Steps of the last payments, the latest first.</summary>
    public required IReadOnlyList<TimedPayment> Payments { get; init; }

    /// <summary>What failed lately, the latest first.</summary>
    public required IReadOnlyList<Failed> Failures { get; init; }
}

/// <summary>One second.</summary>
/// <param name="At">Seconds since the Unix epoch.</param>
/// <param name="Answered">Commands answered.</param>
/// <param name="Failed">Calls that failed.</param>
/// <param name="InFlight">Calls in flight at its end.</param>
/// <param name="P50">Half of its calls took no longer, in milliseconds.</param>
/// <param name="P99">99 of a hundred took no longer, in milliseconds.</param>
internal sealed record LiveSecond(long At, int Answered, int Failed, int InFlight, double? P50, double? P99);

/// <summary>Percentiles in milliseconds; null where nothing was answered.</summary>
/// <param name="Count">How many calls they are of.</param>
/// <param name="P50">Half took no longer.</param>
/// <param name="P95">95 of a hundred took no longer.</param>
/// <param name="P99">99 of a hundred took no longer.</param>
internal sealed record LiveLatency(long Count, double? P50, double? P95, double? P99);

/// <summary>What the brokers said.</summary>
internal sealed record KafkaView
{
    /// <summary>When they last answered everything, in milliseconds since the Unix epoch; 0 for never.</summary>
    public long At { get; init; }

    /// <summary>Why the rest is old, or missing; null where it is not.</summary>
    public string? Problem { get; init; }

    /// <summary>What waits on each partition of the request topics.</summary>
    public IReadOnlyList<LiveTopic> Topics { get; init; } = [];

    /// <summary>The backends and what they own.</summary>
    public IReadOnlyList<LiveMember> Members { get; init; } = [];

    /// <summary>Records that were put aside; null where this is not known.</summary>
    public long? DeadLetterCount { get; init; }

    /// <summary>The newest of them, the newest first.</summary>
    public IReadOnlyList<LiveLetter> DeadLetters { get; init; } = [];
}

/// <summary>A topic.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Lags">What waits on each partition, in their order.</param>
internal sealed record LiveTopic(string Name, IReadOnlyList<long> Lags);

/// <summary>A backend.</summary>
/// <param name="Group">Its group.</param>
/// <param name="Id">What its group calls it.</param>
/// <param name="Host">Where it calls from.</param>
/// <param name="Owns">Its partitions by topic.</param>
internal sealed record LiveMember(string Group, string Id, string Host, IReadOnlyDictionary<string, IReadOnlyList<int>> Owns);

/// <summary>A record that was put aside.</summary>
/// <param name="Id">Where it is in the dead letters.</param>
/// <param name="At">When, in milliseconds since the Unix epoch.</param>
/// <param name="Origin">Where it came from.</param>
/// <param name="Reason">Why.</param>
internal sealed record LiveLetter(string Id, long At, string Origin, string Reason);

/// <summary>Writes it.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(LiveHello))]
[JsonSerializable(typeof(LiveSnapshot))]
[JsonSerializable(typeof(TimedPayment))]
internal sealed partial class LiveJson : JsonSerializerContext;
