using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Client.Load;

namespace Billing.Measuring.Bursts;

/// <summary>What a run measured, as JSON; the names are part of the interface.</summary>
internal sealed record RunReport
{
    public required string Transport { get; init; }

    /// <summary>What the direct transport speaks; null over others.</summary>
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
    public required Machine Machine { get; init; }

    public async Task WriteAsync(string path)
    {
        await using var file = File.Create(path);
        await JsonSerializer.SerializeAsync(file, this, ReportJson.Default.RunReport);
    }
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

    public static KindReport Of(Summary summary) => new()
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
    };
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(RunReport))]
internal sealed partial class ReportJson : JsonSerializerContext;
