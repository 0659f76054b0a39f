using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Measuring.Driving;
using Billing.Reporting;

namespace Billing.Measuring.Sweeping;

/// <summary>What a sweep found, as JSON; the names are part of the interface.</summary>
internal sealed record SweepReport : IResults
{
    /// <summary>How it is kept.</summary>
    public static ResultFormat<SweepReport> Format { get; } = new("sweep", SweepJson.Default.SweepReport, SweepPage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }
    public required string Mode { get; init; }
    public required string Requests { get; init; }
    public required int Workers { get; init; }
    public required double LatencyBoundMs { get; init; }
    public required IReadOnlyList<ProtocolSweep> Protocols { get; init; }

    /// <summary>The audit of each stack that was measured.</summary>
    public IReadOnlyList<AuditCounts> Audits { get; init; } = [];

    bool IResults.HasFigures => Protocols.Any(p => p.Cells.Count > 0);

    // Proxies that ran already have a store that is not at hand.
    bool IResults.IsGood => (Audits.Count == 0 || Books.AreClean(Audits)) && Protocols.All(p => p.Best is { Answers: > 0 });
}

/// <summary>The places that were measured over one protocol.</summary>
internal sealed record ProtocolSweep(DriveProtocol Protocol, IReadOnlyList<SweepCell> Cells, double LatencyBoundMs)
{
    /// <summary>The place with the most answers a second.</summary>
    public SweepCell? Best => Cells.MaxBy(c => c.PerSecond);

    /// <summary>The place with the most answers a second whose 99th percentile keeps the bound, with no failed request.
    /// </summary>
    public SweepCell? BestWithinBound =>
        Cells.Where(c => c.Latency.P99Ms <= LatencyBoundMs && c.Errors.Count == 0).MaxBy(c => c.PerSecond);
}

/// <summary>One place.</summary>
internal sealed record SweepCell
{
    public required int Connections { get; init; }
    public required int InFlight { get; init; }
    public required double DurationS { get; init; }
    public required long Answers { get; init; }
    public required double PerSecond { get; init; }
    public required LatencyFigures Latency { get; init; }
    public required IReadOnlyDictionary<string, long> Errors { get; init; }
    public required IReadOnlyDictionary<string, double> CpuS { get; init; }

    public static SweepCell Of(SweepPoint point, DriveFigures figures) => new()
    {
        Connections = point.Connections,
        InFlight = point.InFlight,
        DurationS = figures.DurationS,
        Answers = figures.Ok,
        PerSecond = figures.PerSecond,
        Latency = figures.Latency,
        Errors = figures.Errors,
        CpuS = figures.CpuS,
    };
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(SweepReport))]
internal sealed partial class SweepJson : JsonSerializerContext;
