using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Scale;

/// <summary>What more backends bring, as JSON; the names are part of the interface.</summary>
internal sealed record ScaleResult : IResults
{
    /// <summary>How it is kept.</summary>
    public static ResultFormat<ScaleResult> Format { get; } = new("compare-scale", ScaleJson.Default.ScaleResult, ScalePage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }

    /// <summary>Where the thesis's figures are from, which the page shows.</summary>
    public Source Source { get; init; } = Sources.Thesis;

    public required int Rounds { get; init; }
    public required ScaleWork Work { get; init; }
    public required IReadOnlyList<ScaleSeries> Series { get; init; }
    public required IReadOnlyList<StageCosts> Costs { get; init; }

    /// <summary>The audit of each stack that was measured.</summary>
    public IReadOnlyList<AuditCounts> Audits { get; init; } = [];

    long ILatencies.Failed => Series.Sum(s => s.Steps.Sum(t => t.Rounds.Sum(r => r.Failed)));

    bool IResults.HasFigures => Costs.Count > 0;

    bool IResults.IsGood => Books.AreClean(Audits) && Series.All(s => s.Steps.All(t => t.Rounds.All(r => r.Failed == 0)))
        && Costs.All(c => c.Samples.All(s => s.Failed == 0));
}

/// <summary>The simulated work that scales where the processor does not: each backend has so many requests at the card network
/// at a time, and each takes so long there.</summary>
/// <param name="PaymentsAtATime">Payments of one backend under way at a time.</param>
/// <param name="PaymentMs">Mean milliseconds of a payment at the card network; uniform within half of it to either side.</param>
/// <param name="BalancesAtATime">Balance checks of one replica under way at a time.</param>
/// <param name="BalanceMs">Mean milliseconds of a balance check.</param>
/// <param name="InFlight">Requests that the clients keep under way, whatever the number of backends.</param>
internal sealed record ScaleWork(int PaymentsAtATime, int PaymentMs, int BalancesAtATime, int BalanceMs, int InFlight)
{
    /// <summary>Work that two cores still have the processor for with eight backends and twelve replicas.</summary>
    public static ScaleWork Default { get; } = new(PaymentsAtATime: 16, PaymentMs: 200, BalancesAtATime: 8, BalanceMs: 100, InFlight: 400);

    /// <summary>Payments per second that one backend's simulated work allows at most.</summary>
    public double PaymentCeiling => PaymentsAtATime * 1000.0 / PaymentMs;

    /// <summary>Balance checks per second that one replica's simulated work allows at most.</summary>
    public double BalanceCeiling => BalancesAtATime * 1000.0 / BalanceMs;
}

/// <summary>Writes against payment backends, or reads against replicas.</summary>
internal sealed record ScaleSeries(ScaleKind Kind, IReadOnlyList<ScaleStep> Steps);

/// <summary>Which side scales.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<ScaleKind>))]
internal enum ScaleKind
{
    Writes,
    Reads,
}

/// <summary>One number of backends.</summary>
internal sealed record ScaleStep(int Backends, IReadOnlyList<ScaleRound> Rounds)
{
    public Spread PerSecond => Spread.Of(Rounds.Select(r => r.PerSecond));

    public Spread P50Ms => Spread.Of(Rounds.Select(r => r.P50Ms));

    public Spread P99Ms => Spread.Of(Rounds.Select(r => r.P99Ms));
}

/// <summary>One measurement.</summary>
internal sealed record ScaleRound(double PerSecond, double P50Ms, double P99Ms, long Failed);

/// <summary>Processor time that one request costs in each program, measured without jitter and under full load.</summary>
/// <param name="Kind">Writes or reads.</param>
/// <param name="PerSecond">Requests per second while it was measured, the median of the samples.</param>
/// <param name="MicrosecondsByProgram">Processor microseconds for each request, the median of the samples.</param>
internal sealed record StageCosts(ScaleKind Kind, double PerSecond, IReadOnlyDictionary<string, double> MicrosecondsByProgram)
{
    /// <summary>What the medians are of; empty in results from before there were several.</summary>
    public IReadOnlyList<StageSample> Samples { get => field ?? []; init; } = [];

    /// <summary>Sums up samples.</summary>
    /// <param name="kind">What was measured.</param>
    /// <param name="samples">At least one.</param>
    public static StageCosts Of(ScaleKind kind, IReadOnlyList<StageSample> samples) => new(
        kind, Spread.Of(samples.Select(s => s.PerSecond)).Median,
        samples.SelectMany(s => s.MicrosecondsByProgram.Keys).Distinct(StringComparer.Ordinal).ToDictionary(
            program => program, program => Spread.Of(samples.Select(s => s.MicrosecondsByProgram.GetValueOrDefault(program))).Median, StringComparer.Ordinal))
    {
        Samples = samples,
    };
}

/// <summary>One measurement of what a request costs.</summary>
/// <param name="PerSecond">Requests per second meanwhile.</param>
/// <param name="Failed">Requests that failed.</param>
/// <param name="MicrosecondsByProgram">Processor microseconds for each answered request.</param>
internal sealed record StageSample(double PerSecond, long Failed, IReadOnlyDictionary<string, double> MicrosecondsByProgram);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(ScaleResult))]
internal sealed partial class ScaleJson : JsonSerializerContext;
