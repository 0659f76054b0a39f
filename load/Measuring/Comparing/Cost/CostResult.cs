using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Cost;

/// <summary>The cost of security and telemetry as JSON; the names are part of the interface.</summary>
internal sealed record CostResult : IResults
{
    /// <summary>The format of the result file.</summary>
    public static ResultFormat<CostResult> Format { get; } = new("compare-cost", CostJson.Default.CostResult, CostPage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }
    public required int InFlight { get; init; }
    public required int Rounds { get; init; }

    /// <summary>The sides; the first has neither security nor telemetry.</summary>
    public required IReadOnlyList<CostSide> Sides { get; init; }

    /// <summary>The audit of each stack that was measured.</summary>
    public IReadOnlyList<AuditCounts> Audits { get; init; } = [];

    long ILatencies.Failed => Sides.Sum(s => s.Rounds.Sum(r => r.Failed));

    bool IResults.HasFigures => Sides.Count > 0 && Sides.All(s => s.Rounds.Count > 0);

    bool IResults.IsGood => StoreAudit.AreClean(Audits) && Sides.All(s => s.Rounds.All(r => r.Failed == 0));
}

/// <summary>The figures of one setup of the platform.</summary>
internal sealed record CostSide(string Name, IReadOnlyList<CostRound> Rounds)
{
    public Spread PerSecond => Spread.Of(Rounds.Select(r => r.PerSecond));

    public Spread P99Ms => Spread.Of(Rounds.Select(r => r.P99Ms));

    /// <summary>Returns the processor microseconds per payment in a program.</summary>
    public double Microseconds(string program) => Spread.Of(Rounds.Select(r => r.MicrosecondsByProgram.GetValueOrDefault(program))).Median;
}

/// <summary>One measurement.</summary>
/// <param name="PerSecond">Payments per second.</param>
/// <param name="P50Ms">Median latency.</param>
/// <param name="P99Ms">99th percentile of the latency.</param>
/// <param name="Failed">Number of failed payments.</param>
/// <param name="MicrosecondsByProgram">Processor microseconds per payment, by program.</param>
internal sealed record CostRound(
    double PerSecond, double P50Ms, double P99Ms, long Failed, IReadOnlyDictionary<string, double> MicrosecondsByProgram);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(CostResult))]
internal sealed partial class CostJson : JsonSerializerContext;
