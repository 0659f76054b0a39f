using System.Text.Json.Serialization;
using Billing.Driver.Metering;

namespace Billing.Driver;

/// <summary>What one driver measured.</summary>
public sealed record LoadResult
{
    /// <summary>When the first measured request was due, in microseconds since the Unix epoch.</summary>
    public required long StartedUnixUs { get; init; }

    /// <summary>When the last answer arrived, in microseconds since the Unix epoch.</summary>
    public required long EndedUnixUs { get; init; }

    /// <summary>Number of retries by the SDK, warm-up included.</summary>
    public required long Retried { get; init; }

    /// <summary>The phases of an open load; one of any other.</summary>
    public required IReadOnlyList<PhaseResult> Phases { get; init; }

    /// <summary>Number of answered payments, warm-up included: as many as in the journal.</summary>
    public required long PaymentsAnswered { get; init; }

    /// <summary>Number of balances in answers to other requests than payments, warm-up included:
    /// as many as in the journal.</summary>
    public required long BalancesAnswered { get; init; }
}

/// <summary>The results of one phase.</summary>
/// <param name="Balances">The figures of its balance checks.</param>
public sealed record PhaseResult(string Name, RequestFigures Payments, RequestFigures Balances)
{
    /// <summary>The figures of what else was done with payments, by name (<see cref="Lives.FollowUps.All"/>);
    /// only of what was sent.</summary>
    public required IReadOnlyDictionary<string, RequestFigures> FollowUps { get; init; }
}

/// <summary>The figures of one kind of request.</summary>
public sealed record RequestFigures
{
    /// <summary>Number of answers; of payments, of accepted ones.</summary>
    public required long Ok { get; init; }

    /// <summary>Number of declined payments and authorisations, and of captures, voids and refunds for which too
    /// little was there.</summary>
    public required long Declined { get; init; }

    /// <summary>Number of failed requests by status.</summary>
    public required IReadOnlyDictionary<string, long> Errors { get; init; }

    /// <summary>Latencies of the answers: from when each request was due in an open load,
    /// otherwise from its call.</summary>
    public required IReadOnlyList<LatencyCount> Latencies { get; init; }

    /// <summary>Latencies of the answers to a burst since its start; empty for other loads.</summary>
    public required IReadOnlyList<LatencyCount> SinceStart { get; init; }
}

/// <summary>Serialises what a command and its drivers exchange.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower)]
[JsonSerializable(typeof(LoadSpec))]
[JsonSerializable(typeof(LoadResult))]
public sealed partial class LoadJson : JsonSerializerContext;
