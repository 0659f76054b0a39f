using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Measuring.Driving;
using Billing.Reporting;

namespace Billing.Measuring.Sweeping;

/// <summary>The result of a sweep as JSON; the names are part of the interface.</summary>
internal sealed record SweepResult : IResults
{
    /// <summary>The format of the result file.</summary>
    public static ResultFormat<SweepResult> Format { get; } = new("sweep", SweepJson.Default.SweepResult, SweepPage.Of);

    /// <summary>The value of <see cref="Requests"/> for a sweep without balance checks.</summary>
    public const string PaymentsAlone = "payments";

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }

    /// <summary>The source of HIVE's figures on the page.</summary>
    public Source Source { get; init; } = Sources.IceLab;

    public required string Mode { get; init; }
    public required string Requests { get; init; }
    public required int Workers { get; init; }
    public required double LatencyBoundMs { get; init; }
    public required IReadOnlyList<ProtocolSweep> Protocols { get; init; }

    /// <summary>The audit of each stack that was measured.</summary>
    public IReadOnlyList<AuditCounts> Audits { get; init; } = [];

    long ILatencies.Failed => Protocols.Sum(p => p.Measured.Sum(c => c.Errors.Values.Sum()));

    bool IResults.HasFigures => Protocols.Any(p => p.Cells.Count > 0);

    // The store of proxies that run already cannot be audited. Requests may be rejected during the search, which looks for the
    // limit; but one configuration must be without failures.
    bool IResults.IsGood => (Audits.Count == 0 || StoreAudit.AreClean(Audits)) && Protocols.Count > 0
        && Protocols.All(p => p.Best is { Answers: > 0 } && p.Finals.All(f => !f.HasFailures));
}

/// <summary>The configurations that were measured over one protocol.</summary>
internal sealed record ProtocolSweep(DriveProtocol Protocol, IReadOnlyList<SweepMeasurement> Cells, double LatencyBoundMs)
{
    /// <summary>The best configurations, measured again; empty if only one was measured, and in older results.</summary>
    public IReadOnlyList<RepeatedConfiguration> Finals { get => field ?? []; init; } = [];

    /// <summary>The configuration with the most answers per second and no failed request: by the median of the configurations
    /// that were measured again, if any.</summary>
    public RepeatedConfiguration? BestPlace => Places.Where(p => !p.HasFailures).MaxBy(p => p.PerSecond.Median);

    /// <summary>The configuration with the most answers per second and no failed request whose 99th percentile is within the
    /// bound.</summary>
    public RepeatedConfiguration? BestPlaceWithinBound =>
        Places.Where(p => !p.HasFailures && p.P99Ms.Median <= LatencyBoundMs).MaxBy(p => p.PerSecond.Median);

    /// <summary>The median measurement of <see cref="BestPlace"/>.</summary>
    public SweepMeasurement? Best => BestPlace?.Middle;

    /// <summary>The median measurement of <see cref="BestPlaceWithinBound"/>.</summary>
    public SweepMeasurement? BestWithinBound => BestPlaceWithinBound?.Middle;

    /// <summary>All measurements except the dropped ones.</summary>
    [JsonIgnore]
    public IEnumerable<SweepMeasurement> Measured => Cells.Concat(Finals.SelectMany(f => f.Rounds));

    // Configurations that were measured again replace all others: a single figure cannot be compared with a median.
    private IEnumerable<RepeatedConfiguration> Places => Finals.Any(f => f.Rounds.Count > 0)
        ? Finals.Where(f => f.Rounds.Count > 0)
        : Cells.Select(cell => new RepeatedConfiguration(cell.Connections, cell.InFlight, [cell]));

    /// <summary>Returns the configurations to measure again: those with the most answers per second, overall and within the
    /// bound.</summary>
    /// <param name="most">Maximum number of each.</param>
    public IReadOnlyList<SweepPoint> Candidates(int most)
    {
        var unfailing = Cells.Where(c => !c.HasFailures && c.Answers > 0).OrderByDescending(c => c.PerSecond).ToList();
        return [.. unfailing.Take(most).Concat(unfailing.Where(c => c.Latency.P99Ms <= LatencyBoundMs).Take(most)).Select(c => new SweepPoint(c.Connections, c.InFlight)).Distinct()];
    }
}

/// <summary>A configuration with all its measurements.</summary>
internal sealed record RepeatedConfiguration(int Connections, int InFlight, IReadOnlyList<SweepMeasurement> Rounds)
{
    public Spread PerSecond => Spread.Of(Rounds.Select(r => r.PerSecond));

    [JsonPropertyName("p50_ms")]
    public Spread P50Ms => Spread.Of(Rounds.Select(r => r.Latency.P50Ms));

    [JsonPropertyName("p99_ms")]
    public Spread P99Ms => Spread.Of(Rounds.Select(r => r.Latency.P99Ms));

    /// <summary>The measurement with the median of the answers per second.</summary>
    [JsonIgnore]
    public SweepMeasurement Middle => Rounds.OrderBy(r => r.PerSecond).ElementAt((Rounds.Count - 1) / 2);

    /// <summary>Whether a request failed in any of the measurements.</summary>
    public bool HasFailures => Rounds.Any(r => r.HasFailures);
}

/// <summary>One measurement of a configuration.</summary>
internal sealed record SweepMeasurement
{
    public required int Connections { get; init; }
    public required int InFlight { get; init; }
    public required double DurationS { get; init; }
    public required long Answers { get; init; }
    public required double PerSecond { get; init; }
    public required LatencyFigures Latency { get; init; }
    public required IReadOnlyDictionary<string, long> Errors { get; init; }
    public required IReadOnlyDictionary<string, double> CpuS { get; init; }

    [JsonIgnore]
    public bool HasFailures => Errors.Count > 0;

    public static SweepMeasurement Of(SweepPoint point, DriveFigures figures) => new()
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
[JsonSerializable(typeof(SweepResult))]
internal sealed partial class SweepJson : JsonSerializerContext;
