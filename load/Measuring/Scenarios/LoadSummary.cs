using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.ScenarioFiles;

namespace Billing.Measuring.Scenarios;

/// <summary>The results of a load run, as JSON; the names are part of the interface.</summary>
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
    /// <summary>The moment from which latencies count: <c>sent</c>, as NBomber measures them, so that
    /// delays before sending are not included; or, for a burst, <c>burst</c>, the moment at which all of
    /// its calls were due.</summary>
    public required string LatencyFrom { get; init; }

    public required CallFigures Calls { get; init; }
    public required IReadOnlyDictionary<string, CallFigures> Steps { get; init; }
    public required IReadOnlyDictionary<string, int> Statuses { get; init; }
    public required long Retried { get; init; }
    public required IReadOnlyList<ThresholdFigures> Thresholds { get; init; }
    public AuditCounts? Audit { get; init; }
    public required Machine Machine { get; init; }

    public static LoadSummary Of(
        LoadPlan plan, ScenarioResult result, string? transport, int proxies, bool interrupted) => new()
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
            DurationS = result.DurationS,
            Interrupted = interrupted,
            LatencyFrom = plan.Shape is LoadShape.Burst ? "burst" : "sent",
            Calls = result.Calls,
            Steps = result.Steps,
            Statuses = result.Statuses,
            Retried = result.Retried,
            Thresholds = [.. plan.Thresholds.Select(t => t.Check(result.Calls))],
            Machine = Machine.This(),
        };

    public async Task WriteAsync(string path)
    {
        await using var file = File.Create(path);
        await JsonSerializer.SerializeAsync(file, this, LoadJson.Default.LoadSummary);
    }
}

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(LoadSummary))]
internal sealed partial class LoadJson : JsonSerializerContext;
