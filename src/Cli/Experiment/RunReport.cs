using System.Runtime.InteropServices;
using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.Cli.Auditing;
using Billing.Client.Load;

namespace Billing.Cli.Experiment;

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

internal sealed record BackendCounts(int Payments, int Balances);

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

    /// <summary>The times of the same answers, from when the burst began instead of from each call; null in older results.</summary>
    public BurstTimes? SinceStart { get; init; }

    /// <param name="summary">Each answer timed from its call.</param>
    /// <param name="sinceStart">Each answer timed from when the burst began.</param>
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

/// <summary>Seconds from when a burst began to its answers: all of its requests are meant for that moment.</summary>
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

internal sealed record AuditCounts(
    long Acknowledged, long Recorded, long Lost, long Doubled, long Wrong, long Holes, long Unbalanced, long Accounts, long Events,
    long Misjudged = 0, long Miscounted = 0)
{
    /// <summary>Whether the audit found nothing amiss. Not part of the JSON, which has the counts.</summary>
    [JsonIgnore]
    public bool IsClean => Lost + Doubled + Wrong + Holes + Unbalanced + Misjudged + Miscounted == 0;


    /// <param name="audit">What the audit found.</param>
    /// <param name="miscounted">Kinds of answers of which clients counted another number than the books or journals hold.</param>
    public static AuditCounts Of(AuditResult audit, int miscounted = 0) => new(
        audit.Acknowledged, audit.Recorded, audit.Lost.Count, audit.Doubled.Count, audit.Wrong.Count, audit.Holes.Count,
        audit.Unbalanced.Count, audit.Accounts, audit.Events, audit.Misjudged.Count, miscounted);
}

/// <summary>What figures were measured on.</summary>
internal sealed record Machine(string Os, string Runtime, int Cores, double MemoryGib)
{
    /// <summary>The processor's name; null in older results.</summary>
    public string? Processor { get; init; }

    /// <summary>What was measured; null in older results.</summary>
    public MeasuredSoftware? Software { get; init; }

    /// <summary>This machine, with the programs beside this one.</summary>
    public static Machine This() => new(
        RuntimeInformation.OSDescription, RuntimeInformation.FrameworkDescription, Environment.ProcessorCount,
        Math.Round(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / (double)(1 << 30), 1))
    {
        Processor = ProcessorName(),
        Software = MeasuredSoftware.This(),
    };

    // Not every kind of processor has a name there.
    private static string? ProcessorName() =>
        File.Exists("/proc/cpuinfo")
            ? File.ReadLines("/proc/cpuinfo").FirstOrDefault(line => line.StartsWith("model name", StringComparison.Ordinal))?.Split(':', 2)[^1].Trim()
            : null;
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(RunReport))]
internal sealed partial class ReportJson : JsonSerializerContext;
