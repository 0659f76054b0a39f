using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Measuring.Driving;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Eda;

/// <summary>The comparison of the event-driven and the API-driven architecture as JSON; the names are part of the interface.
/// </summary>
internal sealed record EdaResult : IResults
{
    /// <summary>The format of the result file.</summary>
    public static ResultFormat<EdaResult> Format { get; } = new("compare-eda", EdaJson.Default.EdaResult, EdaPage.Of);

    /// <summary>Time from the first measured request until a backend is killed.</summary>
    public static readonly TimeSpan KillAfter = TimeSpan.FromSeconds(5);

    /// <summary>Duration of the run in which a backend is killed.</summary>
    public static readonly TimeSpan KillRun = TimeSpan.FromSeconds(15);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }

    /// <summary>The source of the study's figures on the page.</summary>
    public Source Source { get; init; } = Sources.EventDriven;

    public required string Protocol { get; init; }
    public required int Proxies { get; init; }

    /// <summary>Number of payment backends of the side through Kafka, and of backends of the direct side, each of which serves
    /// payments and balance checks.</summary>
    public required int Backends { get; init; }

    /// <summary>Number of separate balance backends, which only the side through Kafka has.</summary>
    public int KafkaBalanceBackends { get; init; }

    public required int Rounds { get; init; }
    public required IReadOnlyList<EdaCase> Cases { get; init; }

    /// <summary>The audit of each stack that was measured.</summary>
    public IReadOnlyList<AuditCounts> Audits { get; init; } = [];

    long ILatencies.Failed => Cases.SelectMany(c => c.Kafka.Rounds.Concat(c.Direct.Rounds)).Sum(r => r.Errors.Values.Sum());

    bool IResults.HasFigures => Cases.Count > 0;

    // Under overload, and with a backend killed, requests may fail: the number of failures is one of the figures.
    bool IResults.IsGood => StoreAudit.AreClean(Audits) && Cases.Count > 0
        && Cases.Where(c => c.Phase is EdaPhase.Ramped or EdaPhase.Long)
            .SelectMany(c => c.Kafka.Rounds.Concat(c.Direct.Rounds)).All(r => r.Sent > 0 && r.ErrorPercent == 0);
}

/// <summary>The circumstances under which both sides are measured.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<EdaPhase>))]
internal enum EdaPhase
{
    /// <summary>A number of requests spread over one second; the study sent similar numbers over minutes.</summary>
    Ramped,

    /// <summary>A constant rate for a long time.</summary>
    Long,

    /// <summary>A rate above what this machine can serve.</summary>
    Overload,

    /// <summary>A constant rate, while one backend is killed and stays down.</summary>
    BackendKilled,
}

/// <summary>The figures of both sides under one set of circumstances.</summary>
/// <param name="Phase">The circumstances.</param>
/// <param name="Load">Number of requests in a ramp; otherwise requests per second.</param>
/// <param name="Kafka">The event-driven side.</param>
/// <param name="Direct">The API-driven side.</param>
internal sealed record EdaCase(EdaPhase Phase, int Load, EdaSide Kafka, EdaSide Direct);

/// <summary>One side's rounds.</summary>
internal sealed record EdaSide(IReadOnlyList<EdaRound> Rounds)
{
    public Spread MeanMs => Spread.Of(Rounds.Select(r => r.Latency.MeanMs));

    public Spread P99Ms => Spread.Of(Rounds.Select(r => r.Latency.P99Ms));

    public Spread MaxMs => Spread.Of(Rounds.Select(r => r.Latency.MaxMs));

    public Spread PerSecond => Spread.Of(Rounds.Select(r => r.PerSecond));

    public Spread ErrorPercent => Spread.Of(Rounds.Select(r => r.ErrorPercent));

    /// <summary>Processor milliseconds of all programs of the side together, per thousand requests sent.</summary>
    public Spread CpuMsPerThousand => Spread.Of(Rounds.Where(r => r.Sent > 0).Select(r => r.CpuS.Where(c => c.Key != "client").Sum(c => c.Value) * 1e6 / r.Sent));
}

/// <summary>One measurement of one side.</summary>
internal sealed record EdaRound(
    long Sent, double PerSecond, double ErrorPercent, IReadOnlyDictionary<string, long> Errors, LatencyFigures Latency,
    IReadOnlyDictionary<string, double> CpuS)
{
    public static EdaRound Of(DriveFigures figures) => new(
        figures.Ok + figures.Failed, figures.PerSecond, figures.ErrorPercent, figures.Errors, figures.Latency, figures.CpuS);
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(EdaResult))]
internal sealed partial class EdaJson : JsonSerializerContext;
