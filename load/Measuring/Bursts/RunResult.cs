using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Reporting;

namespace Billing.Measuring.Bursts;

/// <summary>The results of a run, as JSON; the names are part of the interface.</summary>
internal sealed record RunResult : IResults
{
    /// <summary>The format of the results.</summary>
    public static ResultFormat<RunResult> Format { get; } = new("run", ReportJson.Default.RunResult, RunPage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }
    public required string Transport { get; init; }

    /// <summary>The protocol of the direct transport; null with other transports.</summary>
    public string? Protocol { get; init; }

    public required int Clients { get; init; }
    public required int Proxies { get; init; }
    public required BackendCounts Backends { get; init; }
    public required bool Jitter { get; init; }
    public required KindReport Payments { get; init; }
    public required KindReport Balances { get; init; }
    public required double TotalS { get; init; }
    public required double RequestsPerS { get; init; }
    public required long Retried { get; init; }
    public required AuditCounts Audit { get; init; }

    /// <summary>Number of failed requests.</summary>
    [JsonIgnore]
    public long Failed => Payments.Errors + Balances.Errors;

    bool IResults.HasFigures => Payments.Count > 0;

    bool IResults.IsGood => Audit.IsClean && Failed == 0;
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

    /// <summary>The latencies of the same calls, counted from the start of the burst instead of from each call; null in older
    /// results.</summary>
    public BurstTimes? SinceStart { get; init; }

    /// <param name="summary">The latencies, counted from each call.</param>
    /// <param name="sinceStart">The latencies, counted from the start of the burst.</param>
    public static KindReport Of(Summary summary, Summary sinceStart) => new()
    {
        Count = summary.Count,
        Ok = summary.Ok,
        Declined = summary.Declined,
        Errors = summary.Errors,
        ShortestS = summary.Shortest,
        LongestS = summary.Longest,
        AverageS = summary.Average,
        P50S = summary.P50,
        P99S = summary.P99,
        SinceStart = BurstTimes.Of(sinceStart),
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

    public static BurstTimes Of(Summary sinceStart) => new()
    {
        ShortestS = sinceStart.Shortest,
        LongestS = sinceStart.Longest,
        AverageS = sinceStart.Average,
        P50S = sinceStart.P50,
        P99S = sinceStart.P99,
    };
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(RunResult))]
internal sealed partial class ReportJson : JsonSerializerContext;
