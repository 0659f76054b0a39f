using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.Cli.Experiment;
using NBomber.Contracts.Stats;

namespace Billing.Load.Scenarios;

/// <summary>What a load run measured, as JSON; the names are part of the interface.</summary>
internal sealed record LoadSummary
{
    public required string Scenario { get; init; }
    public required string Model { get; init; }
    public int? Rate { get; init; }
    public int? Copies { get; init; }
    public int? From { get; init; }
    public int? To { get; init; }
    public int? AtOnce { get; init; }
    public required int PaymentPercent { get; init; }
    public required string? Transport { get; init; }
    public required int Proxies { get; init; }
    public required double DurationS { get; init; }
    public required bool Interrupted { get; init; }
    public required CallFigures Calls { get; init; }
    public required IReadOnlyDictionary<string, CallFigures> Steps { get; init; }
    public required IReadOnlyDictionary<string, int> Statuses { get; init; }
    public required long Retried { get; init; }
    public required IReadOnlyList<ThresholdFigures> Thresholds { get; init; }
    public AuditCounts? Audit { get; init; }
    public required Machine Machine { get; init; }

    public static LoadSummary Of(
        LoadPlan plan, ScenarioStats stats, IEnumerable<ThresholdFigures> thresholds, string? transport, int proxies, long retried, bool interrupted) => new()
        {
            Scenario = plan.Scenario,
            Model = plan.Shape is LoadShape.Closed or LoadShape.Burst ? "closed" : "open",
            Rate = (plan.Shape as LoadShape.Open)?.Rate,
            Copies = (plan.Shape as LoadShape.Closed)?.Copies,
            From = (plan.Shape as LoadShape.Ramp)?.From,
            To = (plan.Shape as LoadShape.Ramp)?.To,
            AtOnce = (plan.Shape as LoadShape.Burst)?.Calls,
            PaymentPercent = plan.PaymentPercent,
            Transport = transport,
            Proxies = proxies,
            DurationS = stats.Duration.TotalSeconds,
            Interrupted = interrupted,
            Calls = CallFigures.Of(stats.Ok, stats.Fail),
            Steps = stats.StepStats.ToDictionary(s => s.StepName, s => CallFigures.Of(s.Ok, s.Fail)),
            Statuses = CountByStatus(stats),
            Retried = retried,
            Thresholds = [.. thresholds],
            Machine = Machine.This(),
        };

    public async Task WriteAsync(string path)
    {
        await using var file = File.Create(path);
        await JsonSerializer.SerializeAsync(file, this, LoadJson.Default.LoadSummary);
    }

    // A scenario that is made of steps leaves the statuses to them.
    private static SortedDictionary<string, int> CountByStatus(ScenarioStats stats)
    {
        IEnumerable<MeasurementStats> measured = stats.StepStats.Length > 0
            ? stats.StepStats.SelectMany(s => new[] { s.Ok, s.Fail })
            : [stats.Ok, stats.Fail];
        var counts = new SortedDictionary<string, int>(StringComparer.Ordinal);
        foreach (var status in measured.SelectMany(m => m.StatusCodes))
        {
            counts[status.StatusCode] = counts.GetValueOrDefault(status.StatusCode) + status.Count;
        }
        return counts;
    }
}

/// <summary>Latencies are those of answered calls, in milliseconds.</summary>
internal sealed record CallFigures(
    int Count, int Ok, int Failed, double OkPerS, double MinMs, double MeanMs,
    [property: JsonPropertyName("p50_ms")] double P50Ms, [property: JsonPropertyName("p75_ms")] double P75Ms,
    [property: JsonPropertyName("p95_ms")] double P95Ms, [property: JsonPropertyName("p99_ms")] double P99Ms, double MaxMs)
{
    public static CallFigures Of(MeasurementStats ok, MeasurementStats fail) => new(
        ok.Request.Count + fail.Request.Count, ok.Request.Count, fail.Request.Count, ok.Request.RPS, ok.Latency.MinMs, ok.Latency.MeanMs,
        ok.Latency.Percent50, ok.Latency.Percent75, ok.Latency.Percent95, ok.Latency.Percent99, ok.Latency.MaxMs);
}

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(LoadSummary))]
internal sealed partial class LoadJson : JsonSerializerContext;
