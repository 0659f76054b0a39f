using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Scale;

/// <summary>The effect of more backends as JSON; the names are part of the interface.</summary>
internal sealed record ScaleResult : IResults
{
    /// <summary>The format of the result file.</summary>
    public static ResultFormat<ScaleResult> Format { get; } = new("compare-scale", ScaleJson.Default.ScaleResult, ScalePage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }

    /// <summary>The source of the thesis's figures on the page.</summary>
    public Source Source { get; init; } = Sources.Thesis;

    public required int Rounds { get; init; }
    public required ScaleWork Work { get; init; }
    public required IReadOnlyList<ScaleSeries> Series { get; init; }
    public required IReadOnlyList<StageCosts> Costs { get; init; }

    /// <summary>The audit of each stack that was measured.</summary>
    public IReadOnlyList<AuditCounts> Audits { get; init; } = [];

    long ILatencies.Failed => Series.Sum(s => s.Steps.Sum(t => t.Rounds.Sum(r => r.Failed)));

    bool IResults.HasFigures => Costs.Count > 0;

    bool IResults.IsGood => StoreAudit.AreClean(Audits) && Series.All(s => s.Steps.All(t => t.Rounds.All(r => r.Failed == 0)))
        && Costs.All(c => c.Samples.All(s => s.Failed == 0));
}

/// <summary>The simulated work, which scales where the processor does not: each backend has a limited number of concurrent
/// requests at the card network, each of which takes a given time.</summary>
/// <param name="PaymentsAtATime">Number of concurrent payments of one backend.</param>
/// <param name="PaymentMs">Mean milliseconds of a payment at the card network; uniform within half of it to either side.</param>
/// <param name="BalancesAtATime">Number of concurrent balance checks of one replica.</param>
/// <param name="BalanceMs">Mean milliseconds of a balance check.</param>
/// <param name="InFlight">Number of requests that the clients keep in flight for every number of backends.</param>
internal sealed record ScaleWork(int PaymentsAtATime, int PaymentMs, int BalancesAtATime, int BalanceMs, int InFlight)
{
    /// <summary>Work that two cores can handle with eight backends and twelve replicas.</summary>
    public static ScaleWork Default { get; } = new(PaymentsAtATime: 16, PaymentMs: 200, BalancesAtATime: 8, BalanceMs: 100, InFlight: 400);

    /// <summary>The highest number of payments per second that one backend's simulated work allows.</summary>
    public double PaymentCeiling => PaymentsAtATime * 1000.0 / PaymentMs;

    /// <summary>The highest number of balance checks per second that one replica's simulated work allows.</summary>
    public double BalanceCeiling => BalancesAtATime * 1000.0 / BalanceMs;
}

/// <summary>Writes against payment backends, or reads against replicas.</summary>
internal sealed record ScaleSeries(ScaleKind Kind, IReadOnlyList<ScaleStep> Steps);

/// <summary>The kind of requests.</summary>
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

/// <summary>Processor time per request in each program, measured without jitter and under full load.</summary>
/// <param name="Kind">Writes or reads.</param>
/// <param name="PerSecond">Requests per second during the measurement, the median of the samples.</param>
/// <param name="MicrosecondsByProgram">Processor microseconds per request, the median of the samples.</param>
internal sealed record StageCosts(ScaleKind Kind, double PerSecond, IReadOnlyDictionary<string, double> MicrosecondsByProgram)
{
    /// <summary>The samples behind the medians; empty in older results, which have one sample only.</summary>
    public IReadOnlyList<StageSample> Samples { get => field ?? []; init; } = [];

    /// <summary>Summarises samples.</summary>
    /// <param name="kind">The kind of requests.</param>
    /// <param name="samples">At least one sample.</param>
    public static StageCosts Of(ScaleKind kind, IReadOnlyList<StageSample> samples) => new(
        kind, Spread.Of(samples.Select(s => s.PerSecond)).Median,
        samples.SelectMany(s => s.MicrosecondsByProgram.Keys).Distinct(StringComparer.Ordinal).ToDictionary(
            program => program, program => Spread.Of(samples.Select(s => s.MicrosecondsByProgram.GetValueOrDefault(program))).Median, StringComparer.Ordinal))
    {
        Samples = samples,
    };
}

/// <summary>One measurement of the cost of a request.</summary>
/// <param name="PerSecond">Requests per second during the measurement.</param>
/// <param name="Failed">Number of failed requests.</param>
/// <param name="MicrosecondsByProgram">Processor microseconds per answered request.</param>
internal sealed record StageSample(double PerSecond, long Failed, IReadOnlyDictionary<string, double> MicrosecondsByProgram);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(ScaleResult))]
internal sealed partial class ScaleJson : JsonSerializerContext;
