using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Measuring.Driving;
using Billing.Reporting;

namespace Billing.Measuring.Sweeping;

/// <summary>What a sweep found, as JSON; the names are part of the interface.</summary>
internal sealed record SweepResult : IResults
{
    /// <summary>How it is kept.</summary>
    public static ResultFormat<SweepResult> Format { get; } = new("sweep", SweepJson.Default.SweepResult, SweepPage.Of);

    /// <summary>What <see cref="Requests"/> says where no balances are asked for.</summary>
    public const string PaymentsAlone = "payments";

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }

    /// <summary>Where HIVE's figures are from, which the page shows.</summary>
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

    // Proxies that ran already have a store that is not at hand. On the way up requests may be refused: where that begins is what
    // is looked for; but there must be a place without.
    bool IResults.IsGood => (Audits.Count == 0 || Books.AreClean(Audits)) && Protocols.Count > 0
        && Protocols.All(p => p.Best is { Answers: > 0 } && p.Finals.All(f => !f.HasFailures));
}

/// <summary>The places that were measured over one protocol.</summary>
internal sealed record ProtocolSweep(DriveProtocol Protocol, IReadOnlyList<SweepCell> Cells, double LatencyBoundMs)
{
    /// <summary>The places that came first, measured again in turn; empty where only one was measured, and in older results.</summary>
    public IReadOnlyList<FinalPlace> Finals { get => field ?? []; init; } = [];

    /// <summary>The place with the most answers per second and no failed request: by the median of those that were measured again, where
    /// they were.</summary>
    public FinalPlace? BestPlace => Places.Where(p => !p.HasFailures).MaxBy(p => p.PerSecond.Median);

    /// <summary>The place with the most answers per second whose 99th percentile keeps the bound, with no failed request.
    /// </summary>
    public FinalPlace? BestPlaceWithinBound =>
        Places.Where(p => !p.HasFailures && p.P99Ms.Median <= LatencyBoundMs).MaxBy(p => p.PerSecond.Median);

    /// <summary>The middle measurement of <see cref="BestPlace"/>.</summary>
    public SweepCell? Best => BestPlace?.Middle;

    /// <summary>The middle measurement of <see cref="BestPlaceWithinBound"/>.</summary>
    public SweepCell? BestWithinBound => BestPlaceWithinBound?.Middle;

    /// <summary>Everything that was measured and counts.</summary>
    [JsonIgnore]
    public IEnumerable<SweepCell> Measured => Cells.Concat(Finals.SelectMany(f => f.Rounds));

    // Those that were measured again come before all others: a single figure stands against no median.
    private IEnumerable<FinalPlace> Places => Finals.Any(f => f.Rounds.Count > 0)
        ? Finals.Where(f => f.Rounds.Count > 0)
        : Cells.Select(cell => new FinalPlace(cell.Connections, cell.InFlight, [cell]));

    /// <summary>The places worth measuring again: those with the most answers per second, and the first of those within the bound.
    /// </summary>
    /// <param name="most">How many of the former.</param>
    public IReadOnlyList<SweepPoint> Candidates(int most)
    {
        var unfailing = Cells.Where(c => !c.HasFailures && c.Answers > 0).OrderByDescending(c => c.PerSecond).ToList();
        return [.. unfailing.Take(most).Concat(unfailing.Where(c => c.Latency.P99Ms <= LatencyBoundMs).Take(most)).Select(c => new SweepPoint(c.Connections, c.InFlight)).Distinct()];
    }
}

/// <summary>A place with all its measurements.</summary>
internal sealed record FinalPlace(int Connections, int InFlight, IReadOnlyList<SweepCell> Rounds)
{
    public Spread PerSecond => Spread.Of(Rounds.Select(r => r.PerSecond));

    [JsonPropertyName("p50_ms")]
    public Spread P50Ms => Spread.Of(Rounds.Select(r => r.Latency.P50Ms));

    [JsonPropertyName("p99_ms")]
    public Spread P99Ms => Spread.Of(Rounds.Select(r => r.Latency.P99Ms));

    /// <summary>The measurement with as many above as below it in answers per second.</summary>
    [JsonIgnore]
    public SweepCell Middle => Rounds.OrderBy(r => r.PerSecond).ElementAt((Rounds.Count - 1) / 2);

    /// <summary>Whether a request failed in any of them.</summary>
    public bool HasFailures => Rounds.Any(r => r.HasFailures);
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

    [JsonIgnore]
    public bool HasFailures => Errors.Count > 0;

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
[JsonSerializable(typeof(SweepResult))]
internal sealed partial class SweepJson : JsonSerializerContext;
