using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Measuring.Driving;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Eda;

/// <summary>Event-driven against API-driven, as JSON; the names are part of the interface.</summary>
internal sealed record EdaResult : IResults
{
    /// <summary>How it is kept.</summary>
    public static ResultFormat<EdaResult> Format { get; } = new("compare-eda", EdaJson.Default.EdaResult, EdaPage.Of);

    /// <summary>When a backend is killed, counted from the first request that is measured.</summary>
    public static readonly TimeSpan KillAfter = TimeSpan.FromSeconds(5);

    /// <summary>How long requests are sent while one is.</summary>
    public static readonly TimeSpan KillRun = TimeSpan.FromSeconds(15);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }

    /// <summary>Where the study's figures are from, which the page shows.</summary>
    public Source Source { get; init; } = Sources.EventDriven;

    public required string Protocol { get; init; }
    public required int Proxies { get; init; }

    /// <summary>Payment backends of the side through Kafka, and backends of the direct side, each of which does payments and balance
    /// checks.</summary>
    public required int Backends { get; init; }

    /// <summary>Processes that are balance backends and nothing else, which only the side through Kafka has.</summary>
    public int KafkaBalanceBackends { get; init; }

    public required int Rounds { get; init; }
    public required IReadOnlyList<EdaCase> Cases { get; init; }

    /// <summary>The audit of each stack that was measured.</summary>
    public IReadOnlyList<AuditCounts> Audits { get; init; } = [];

    long ILatencies.Failed => Cases.SelectMany(c => c.Kafka.Rounds.Concat(c.Direct.Rounds)).Sum(r => r.Errors.Values.Sum());

    bool IResults.HasFigures => Cases.Count > 0;

    // Under overload, and with a backend killed, requests may fail: how many is what is measured.
    bool IResults.IsGood => Books.AreClean(Audits) && Cases.Count > 0
        && Cases.Where(c => c.Phase is EdaPhase.Ramped or EdaPhase.Long)
            .SelectMany(c => c.Kafka.Rounds.Concat(c.Direct.Rounds)).All(r => r.Sent > 0 && r.ErrorPercent == 0);
}

/// <summary>Under which circumstances both sides are measured.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<EdaPhase>))]
internal enum EdaPhase
{
    /// <summary>So many requests, spread over one second; the study had numbers like these, over minutes.</summary>
    Ramped,

    /// <summary>A constant rate for long.</summary>
    Long,

    /// <summary>A rate above what this machine can serve.</summary>
    Overload,

    /// <summary>A constant rate while one backend is killed for good.</summary>
    BackendKilled,
}

/// <summary>One circumstance and what both sides made of it.</summary>
/// <param name="Phase">The circumstance.</param>
/// <param name="Load">Requests, where they are ramped; otherwise requests per second.</param>
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

    /// <summary>Processor milliseconds of all programs of the side together, for a thousand requests sent.</summary>
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
