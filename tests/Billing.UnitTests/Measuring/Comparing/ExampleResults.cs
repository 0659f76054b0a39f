using Billing.Auditing;
using Billing.Measuring;
using Billing.Measuring.Bursts;
using Billing.Measuring.Comparing.Ceiling;
using Billing.Measuring.Comparing.Cost;
using Billing.Measuring.Comparing.Eda;
using Billing.Measuring.Comparing.Overload;
using Billing.Measuring.Comparing.Paper;
using Billing.Measuring.Comparing.Rpc;
using Billing.Measuring.Comparing.Scale;
using Billing.Measuring.Driving;
using Billing.Measuring.Soaks;
using Billing.Measuring.Sweeping;
using Billing.Reporting;
using Billing.UnitTests.Measuring.Profiling;

namespace Billing.UnitTests.Measuring.Comparing;

/// <summary>Example results of each kind of measurement, with their pages.</summary>
internal static class ExampleResults
{
    public static readonly RunInfo Complete = new("c", DateTimeOffset.UnixEpoch, true, new Machine("Linux", ".NET", 2, 4));
    public static readonly AuditCounts Clean = new(0, 0, 0, 0, 0, 0, 0, 10, 100);

    private static readonly LatencyFigures Latency = new(1, 2, 2, 3, 4, 5, 6, 7);

    /// <summary>All kinds of measurements.</summary>
    public static IReadOnlyList<string> Kinds { get; } = ["paper", "eda", "rpc", "scale", "ceiling", "overload", "cost", "sweep", "profile", "run", "chaos"];

    /// <summary>The kinds that start stacks of their own, whose event stores are audited.</summary>
    public static IReadOnlyList<string> Audited { get; } = [.. Kinds.Except(["rpc", "sweep"])];

    /// <summary>The kinds whose results have a list of audits, which may be empty; those of a single run always have one audit.
    /// </summary>
    public static IReadOnlyList<string> AuditedApart { get; } = [.. Audited.Except(["run", "chaos"])];

    /// <param name="kind">One of <see cref="Kinds"/>.</param>
    /// <param name="audits">The audits.</param>
    /// <param name="failed">Number of failed requests where none is allowed.</param>
    public static (IResults Results, Func<Report> Page) Of(string kind, IReadOnlyList<AuditCounts> audits, int failed = 0) => kind switch
    {
        "paper" => WithPage(Paper(audits, failed), PaperResult.Format),
        "eda" => WithPage(Eda(EdaPhase.Long, Round(0), Round(failed), audits), EdaResult.Format),
        "rpc" => WithPage(Rpc(failed), RpcResult.Format),
        "scale" => WithPage(Scale(audits, failed), ScaleResult.Format),
        "ceiling" => WithPage(Ceiling(audits, failed), CeilingResult.Format),
        "overload" => WithPage(Overload(audits, failed), OverloadResult.Format),
        "cost" => WithPage(Cost(audits, failed), CostResult.Format),
        "sweep" => WithPage(Sweep(audits, [Cell(4, 8, 1000, failed)]), SweepResult.Format),
        "run" => WithPage(Run(audits, failed), RunResult.Format),
        "chaos" => WithPage(Chaos(audits, failed), ChaosResult.Format),
        _ => WithPage(ProfileReports.With(Complete, failed, [.. audits]), Billing.Measuring.Profiling.ProfileResult.Format),
    };

    public static EdaRound Round(int failed) => new(
        100 + failed, 99, 100.0 * failed / (100 + failed), failed > 0 ? new Dictionary<string, long> { ["Unavailable"] = failed } : [], Latency,
        new Dictionary<string, double> { ["proxy"] = 0.2 });

    public static EdaResult Eda(EdaPhase phase, EdaRound kafka, EdaRound direct, IReadOnlyList<AuditCounts> audits) => new()
    {
        Run = Complete,
        Protocol = "grpc",
        Proxies = 3,
        Backends = 3,
        KafkaBalanceBackends = 3,
        Rounds = 1,
        Cases = [new EdaCase(phase, 100, new EdaSide([kafka]), new EdaSide([direct]))],
        Audits = audits,
    };

    public static SweepResult Sweep(IReadOnlyList<AuditCounts> audits, IReadOnlyList<SweepMeasurement> cells, params IReadOnlyList<RepeatedConfiguration> finals) => new()
    {
        Mode = finals.Count > 0 ? "dynamic" : "static",
        Run = Complete,
        Requests = SweepResult.PaymentsAlone,
        Workers = 1,
        LatencyBoundMs = 100,
        Protocols = [new ProtocolSweep(DriveProtocol.Rest, cells, 100) { Finals = finals }],
        Audits = audits,
    };

    public static SweepMeasurement Cell(int connections, int inFlight, double perSecond, int failed = 0, double p99Ms = 5) => new()
    {
        Connections = connections,
        InFlight = inFlight,
        DurationS = 3,
        Answers = (long)perSecond * 3,
        PerSecond = perSecond,
        Latency = Latency with { P99Ms = p99Ms },
        Errors = failed > 0 ? new Dictionary<string, long> { ["Unavailable"] = failed } : [],
        CpuS = new Dictionary<string, double> { ["proxy"] = 1 },
    };

    public static RpcResult Rpc(int failed = 0, double cpuS = 0.5) => new()
    {
        Run = Complete,
        Runs = 2,
        Connections = 1,
        Conditions = new RpcConditions(1),
        Cells = [RpcCell(10, cpuS, failed), RpcCell(990, 5, 0)],
        Variants = [.. new RpcConditions(1).Others().Select(conditions => new RpcVariant(conditions, RpcCell(990, 10, 0)))],
    };

    /// <summary>A cell in which gRPC takes 10 s of processor time and RPCX <paramref name="cpuS"/>.</summary>
    public static RpcCell RpcCell(int threads, double cpuS, int failed) => new(threads, 100,
    [
        RpcSide.Of(Protocols.Rpcx, 100, [new RpcRun(50, 1_000, 0, cpuS / 2, cpuS / 2)]),
        RpcSide.Of(Protocols.Grpc, 100, [new RpcRun(400, 1_000, failed, 5, 5)]),
        RpcSide.Of(Protocols.Rest, 100, [new RpcRun(800, 1_000, 0, 20, 20)]),
    ]);

    private static (IResults, Func<Report>) WithPage<T>(T results, ResultFormat<T> format)
        where T : IResults => (results, () => format.Page(results));

    private static PaperResult Paper(IReadOnlyList<AuditCounts> audits, int failed) => new()
    {
        Run = Complete,
        Transport = "kafka",
        Clients = 3,
        Proxies = 3,
        Brokers = 1,
        WarmUp = 1000,
        Rounds = 1,
        Cases = [new PaperCase(3, false, 25_000, PaperFigures.Of(25_000, 3, false), [new PaperRound(0.1, 2, 1, 2.5, failed, new PaperRow(0.2, 2.4, 1.2))])],
        Audits = audits,
    };

    private static ScaleResult Scale(IReadOnlyList<AuditCounts> audits, int failed) => new()
    {
        Run = Complete,
        Rounds = 1,
        Work = ScaleWork.Default,
        Series = [new ScaleSeries(ScaleKind.Reads, [new ScaleStep(1, [new ScaleRound(200, 1, 2, failed)])])],
        Costs = [StageCosts.Of(ScaleKind.Writes, [new StageSample(3000, 0, new Dictionary<string, double> { ["proxy"] = 100 })])],
        Audits = audits,
    };

    private static CeilingResult Ceiling(IReadOnlyList<AuditCounts> audits, int failed) => new()
    {
        Run = Complete,
        Proxies = 3,
        Rounds = 1,
        Cases = [new CeilingCase("200 in flight", new CeilingSide([new CeilingRound(1, 250, 1, 2, failed)]), new CeilingSide([new CeilingRound(1, 1000, 1, 2, 0)]))],
        Audits = audits,
    };

    private static OverloadResult Overload(IReadOnlyList<AuditCounts> audits, int failed) => new()
    {
        Run = Complete,
        CapacityPerS = 500,
        TargetMs = 100,
        Phases = [new OverloadPhase("Normal", 350, 7000, 350, 0, failed, Latency, Latency)],
        Audits = audits,
    };

    private static RunResult Run(IReadOnlyList<AuditCounts> audits, int failed) => new()
    {
        Run = Complete,
        Transport = "kafka",
        Clients = 3,
        Proxies = 3,
        Backends = new BackendCounts(3, 3),
        Jitter = false,
        Payments = Kind(failed),
        Balances = Kind(0),
        TotalS = 2,
        RequestsPerS = 100,
        Retried = 0,
        Audit = UncleanOf(audits),
    };

    private static KindReport Kind(int errors) => new()
    {
        Count = 100,
        Ok = 100 - errors,
        Declined = 1,
        Errors = errors,
        ShortestS = 0.1,
        LongestS = 2,
        AverageS = 1,
        P50S = 0.9,
        P99S = 1.9,
        SinceStart = new BurstTimes { ShortestS = 0.2, LongestS = 2, AverageS = 1.1, P50S = 1, P99S = 1.9 },
    };

    private static ChaosResult Chaos(IReadOnlyList<AuditCounts> audits, int failed) => new()
    {
        Run = Complete,
        Seed = 1,
        DurationS = 180,
        Brokers = 3,
        Proxies = 3,
        Backends = new BackendCounts(3, 3),
        Jitter = true,
        Rate = 300,
        Faults = [new FaultReport("kill -9 proxy 1", 1, 1.1, 2, 0.5)],
        Kinds = [new KindOfFaultReport("kill -9 broker", 1, 12, 10), new KindOfFaultReport("kill -9 proxy", 1, 0.5, null)],
        Payments = 1000,
        Declined = 10,
        SentTwice = 10,
        Balances = 100,
        Unanswered = failed,
        Retried = 5,
        AskedAgain = 2,
        Failures = new Dictionary<string, long> { ["Unavailable"] = 5 },
        Violations = [],
        Slowest = [],
        Direct = 10,
        Forgotten = [],
        Unpublished = [],
        EndedThemselves = 0,
        BadRecords = 8,
        PutAside = 8,
        Wrong = failed > 0 ? ["a payment was not answered"] : [],
        Audit = UncleanOf(audits),
        Clean = failed == 0 && UncleanOf(audits).IsClean,
    };

    private static AuditCounts UncleanOf(IReadOnlyList<AuditCounts> audits) => audits.FirstOrDefault(a => !a.IsClean) ?? Clean;

    private static CostResult Cost(IReadOnlyList<AuditCounts> audits, int failed) => new()
    {
        Run = Complete,
        InFlight = 200,
        Rounds = 1,
        Sides = [new CostSide("nothing", [new CostRound(1000, 1, 2, failed, new Dictionary<string, double> { ["proxy"] = 100 })])],
        Audits = audits,
    };
}
