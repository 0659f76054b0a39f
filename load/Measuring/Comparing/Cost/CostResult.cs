using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Cost;

/// <summary>What protection and observation cost, as JSON; the names are part of the interface.</summary>
internal sealed record CostResult : IResults
{
    /// <summary>How it is kept.</summary>
    public static ResultFormat<CostResult> Format { get; } = new("compare-cost", CostJson.Default.CostResult, CostPage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }
    public required int InFlight { get; init; }
    public required int Rounds { get; init; }

    /// <summary>The first is without any of it.</summary>
    public required IReadOnlyList<CostSide> Sides { get; init; }

    /// <summary>The audit of each stack that was measured.</summary>
    public IReadOnlyList<AuditCounts> Audits { get; init; } = [];

    long ILatencies.Failed => Sides.Sum(s => s.Rounds.Sum(r => r.Failed));

    bool IResults.HasFigures => Sides.Count > 0 && Sides.All(s => s.Rounds.Count > 0);

    bool IResults.IsGood => Books.AreClean(Audits) && Sides.All(s => s.Rounds.All(r => r.Failed == 0));
}

/// <summary>One way to run the platform.</summary>
internal sealed record CostSide(string Name, IReadOnlyList<CostRound> Rounds)
{
    public Spread PerSecond => Spread.Of(Rounds.Select(r => r.PerSecond));

    public Spread P99Ms => Spread.Of(Rounds.Select(r => r.P99Ms));

    /// <summary>Processor microseconds of a payment, by program.</summary>
    public double Microseconds(string program) => Spread.Of(Rounds.Select(r => r.MicrosecondsByProgram.GetValueOrDefault(program))).Median;
}

/// <summary>One measurement.</summary>
/// <param name="PerSecond">Payments per second.</param>
/// <param name="P50Ms">Half took at most this.</param>
/// <param name="P99Ms">99 of 100 took at most this.</param>
/// <param name="Failed">Payments that failed.</param>
/// <param name="MicrosecondsByProgram">Processor microseconds of each payment.</param>
internal sealed record CostRound(
    double PerSecond, double P50Ms, double P99Ms, long Failed, IReadOnlyDictionary<string, double> MicrosecondsByProgram);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(CostResult))]
internal sealed partial class CostJson : JsonSerializerContext;
