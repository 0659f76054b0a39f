using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Driver.Metering;
using Billing.Measuring.Loads;
using Billing.Reporting;

namespace Billing.Measuring.Bursts;

/// <summary>The results of a run, as JSON; the names are part of the interface.</summary>
internal sealed record RunResult : IResults
{
    public static ResultFormat<RunResult> Format { get; } = new("run", ReportJson.Default.RunResult, RunPage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }

    /// <summary>The transport; <c>targets</c> if the proxies ran already.</summary>
    public string Transport { get; init; } = "";

    /// <summary>The protocol of the direct transport; null with other transports.</summary>
    public string? Protocol { get; init; }

    public required int Clients { get; init; }
    public int Proxies { get; init; }

    /// <summary>The backends of a stack; null if the proxies ran already.</summary>
    public BackendCounts? Backends { get; init; }

    public bool Jitter { get; init; }
    public required KindReport Payments { get; init; }
    public required KindReport Balances { get; init; }

    /// <summary>What else was done with payments, by name; null without <c>--mix</c>.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public IReadOnlyDictionary<string, KindReport>? FollowUps { get; init; }

    public required double TotalS { get; init; }
    public required double RequestsPerS { get; init; }
    public required long Retried { get; init; }

    /// <summary>The audit; null before it is made, and if the store of the proxies is not known.</summary>
    public AuditCounts? Audit { get; init; }

    /// <summary>Number of failed requests.</summary>
    [JsonIgnore]
    public long Failed => All.Sum(kind => kind.Figures.Errors);

    /// <summary>The figures of each kind of request that was sent, by name.</summary>
    [JsonIgnore]
    public IEnumerable<(string Name, KindReport Figures)> All =>
    [
        ("payments", Payments), .. Balances.Count > 0 ? [("balances", Balances)] : Array.Empty<(string, KindReport)>(),
        .. (FollowUps ?? new Dictionary<string, KindReport>()).Select(kind => (kind.Key.Replace('_', '-'), kind.Value)),
    ];

    bool IResults.HasFigures => All.Any(kind => kind.Figures.Count > 0);

    bool IResults.IsGood => (Audit?.IsClean ?? Backends is null) && Failed == 0;
}

internal sealed record KindReport
{
    public required int Count { get; init; }
    public required int Ok { get; init; }
    public required int Declined { get; init; }
    public required int Errors { get; init; }
    public required double ShortestS { get; init; }
    public required double LongestS { get; init; }
    public required double AverageS { get; init; }

    [JsonPropertyName("p50_s")]
    public required double P50S { get; init; }

    [JsonPropertyName("p99_s")]
    public required double P99S { get; init; }

    /// <summary>The latencies of the same calls, counted from the start of the burst.</summary>
    public required BurstTimes SinceStart { get; init; }

    public static KindReport Of(KindFigures figures) => new()
    {
        Count = (int)figures.Sent,
        Ok = (int)figures.Ok,
        Declined = (int)figures.Declined,
        Errors = (int)figures.Failed,
        ShortestS = figures.Latency.MinMs / 1000,
        LongestS = figures.Latency.MaxMs / 1000,
        AverageS = figures.Latency.MeanMs / 1000,
        P50S = figures.Latency.P50Ms / 1000,
        P99S = figures.Latency.P99Ms / 1000,
        SinceStart = BurstTimes.Of(figures.SinceStart),
    };
}

/// <summary>Latencies in seconds, counted from the start of a burst, at which all of its requests are due.</summary>
internal sealed record BurstTimes
{
    public required double ShortestS { get; init; }
    public required double LongestS { get; init; }
    public required double AverageS { get; init; }

    [JsonPropertyName("p50_s")]
    public required double P50S { get; init; }

    [JsonPropertyName("p99_s")]
    public required double P99S { get; init; }

    public static BurstTimes Of(LatencyFigures sinceStart) => new()
    {
        ShortestS = sinceStart.MinMs / 1000,
        LongestS = sinceStart.MaxMs / 1000,
        AverageS = sinceStart.MeanMs / 1000,
        P50S = sinceStart.P50Ms / 1000,
        P99S = sinceStart.P99Ms / 1000,
    };
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(RunResult))]
internal sealed partial class ReportJson : JsonSerializerContext;
