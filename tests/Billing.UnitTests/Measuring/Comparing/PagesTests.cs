using System.Text.Json;
using System.Xml.Linq;
using Billing.Auditing;
using Billing.Cli.Commands.Measurements;
using Billing.Measuring;
using Billing.Measuring.Comparing.Ceiling;
using Billing.Measuring.Comparing.Cost;
using Billing.Measuring.Comparing.Eda;
using Billing.Measuring.Comparing.Overload;
using Billing.Measuring.Comparing.Paper;
using Billing.Measuring.Comparing.Scale;
using Billing.Measuring.Driving;
using Billing.Measuring.Profiling;
using Billing.Measuring.Sweeping;
using Billing.Reporting;
using Billing.Reporting.Pages;
using Billing.UnitTests.Measuring.Profiling;

namespace Billing.UnitTests.Measuring.Comparing;

/// <summary>Result files give the same pages as the results that were written to them.</summary>
public sealed class PagesTests : IDisposable
{
    private static readonly RunInfo Complete = new("c", DateTimeOffset.UnixEpoch, true, new Machine("Linux", ".NET", 2, 4));
    private static readonly LatencyFigures Latency = new(1, 2, 2, 3, 4, 5, 6, 7);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-pages-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Measured_bursts_are_shown_beside_the_prototypes_figures(bool measured)
    {
        var rounds = measured ? new List<PaperRound> { new(0.1, 2, 1, 2.5, 0, new PaperRow(0.2, 3, 1)), new(0.2, 4, 2, 4.5, 0, new PaperRow(0.2, 5, 2)) } : [];
        var report = new PaperResult
        {
            Run = Complete with { Complete = measured },
            Transport = "kafka",
            Clients = 3,
            Proxies = 3,
            Brokers = 1,
            WarmUp = 1000,
            Rounds = 2,
            Cases = [new PaperCase(3, false, 25_000, PaperFigures.Of(25_000, 3, false), rounds)],
            Audits = [new AuditCounts(1, 1, 0, 0, 0, 0, 0, 1, 1)],
        };
        var page = PageOf(report, PaperResult.Format);

        Assert.Contains("7.89", page, StringComparison.Ordinal);
        Assert.Contains(measured ? "In 1 of 1 cases" : "Nothing was measured", page, StringComparison.Ordinal);
        Assert.Equal(measured, !page.Contains("Ended early", StringComparison.Ordinal));
        Assert.Equal(measured ? 7.89 / 3 : null, report.Cases[0].LongestRatio);
        Assert.Equal(measured ? 7.89 / 4 : null, report.Cases[0].LongestSinceStartRatio);
    }

    [Fact]
    public void A_sweep_names_its_best_configurations()
    {
        var cell = new SweepMeasurement
        {
            Connections = 4,
            InFlight = 8,
            DurationS = 3,
            Answers = 3000,
            PerSecond = 1000,
            Latency = Latency,
            Errors = new Dictionary<string, long>(),
            CpuS = new Dictionary<string, double> { ["proxy"] = 1 },
        };
        var slow = cell with { InFlight = 16, PerSecond = 1500, Latency = Latency with { P99Ms = 500 } };
        var report = new SweepResult
        {
            Mode = "dynamic",
            Run = Complete,
            Requests = "payments",
            Workers = 1,
            LatencyBoundMs = 100,
            Protocols = [new ProtocolSweep(DriveProtocol.Rest, [cell, slow], 100)],
        };
        var page = PageOf(report, SweepResult.Format);

        Assert.Contains("1,500 over REST, pipelined, with 4 connections and 16 requests in flight", page, StringComparison.Ordinal);
        Assert.Equal(cell, report.Protocols[0].BestWithinBound);
    }

    [Fact]
    public void Both_architectures_are_compared()
    {
        var round = new EdaRound(100, 99, 1, new Dictionary<string, long> { ["Unavailable"] = 1 }, Latency, new Dictionary<string, double> { ["proxy"] = 0.2, ["client"] = 9 });
        var report = new EdaResult
        {
            Run = Complete,
            Protocol = "grpc",
            Proxies = 3,
            Backends = 3,
            Rounds = 1,
            Cases = [.. Enum.GetValues<EdaPhase>().Select(phase => new EdaCase(phase, 100, new EdaSide([round]), new EdaSide([round])))],
        };
        var page = PageOf(report, EdaResult.Format);

        Assert.Contains("19.18 % better", page, StringComparison.Ordinal);
        Assert.Contains("1 x Unavailable", page, StringComparison.Ordinal);
        // The processor time of the load generator is counted for neither side.
        Assert.Equal(2000, report.Cases[0].Kafka.CpuMsPerThousand.Median, 6);
    }

    [Fact]
    public void The_throughput_of_more_backends_is_compared_with_the_ceiling_of_their_simulated_work()
    {
        var report = new ScaleResult
        {
            Run = Complete,
            Rounds = 1,
            Work = new ScaleWork(PaymentsAtATime: 16, PaymentMs: 40, BalancesAtATime: 8, BalanceMs: 45, InFlight: 400),
            Series = [new ScaleSeries(ScaleKind.Writes, [new ScaleStep(1, [new ScaleRound(200, 1, 2, 0)]), new ScaleStep(2, [new ScaleRound(400, 1, 2, 0)])])],
            Costs = [new StageCosts(ScaleKind.Writes, 3000, new Dictionary<string, double> { ["proxy"] = 100, ["postgres"] = 100, ["client"] = 50 })],
        };
        var page = PageOf(report, ScaleResult.Format);

        Assert.Equal(400, report.Work.PaymentCeiling);
        Assert.Contains("2 times the backends handle 2.0 times as much simulated work", page, StringComparison.Ordinal);
        // 200 us of the system's own processor time per payment, on two cores; 100 us of PostgreSQL's, on 8 cores.
        Assert.Contains("10,000", page, StringComparison.Ordinal);
        Assert.Contains("80,000", page, StringComparison.Ordinal);
    }

    [Fact]
    public void The_throughput_of_the_full_path_is_shown_as_a_percentage_of_the_echos()
    {
        var report = new CeilingResult
        {
            Run = Complete,
            Proxies = 3,
            Rounds = 1,
            Cases = [new CeilingCase("200 in flight", new CeilingSide([new CeilingRound(1, 250, 1, 2, 0)]), new CeilingSide([new CeilingRound(1, 1000, 1, 2, 0)]))],
        };

        Assert.Contains("25 % with 200 in flight", PageOf(report, CeilingResult.Format), StringComparison.Ordinal);
    }

    [Fact]
    public void An_overload_is_compared_with_the_normal_phase_before_it()
    {
        var report = new OverloadResult
        {
            Run = Complete,
            CapacityPerS = 500,
            TargetMs = 100,
            Phases =
            [
                new OverloadPhase("Normal", 350, 7000, 350, 0, 0, Latency with { P99Ms = 100 }, Latency),
                new OverloadPhase("10 times the capacity", 5000, 30_000, 500, 270_000, 0, Latency with { P99Ms = 150 }, Latency with { P99Ms = 8.2 }),
            ],
            Memory = [new MemoryFigures("proxy-1", 200, 210, 205)],
            Audits = [new AuditCounts(1, 1, 0, 0, 0, 0, 0, 1, 1)],
        };
        var page = PageOf(report, OverloadResult.Format);

        Assert.Contains("10 times the capacity: p99 1.50 times normal.", page, StringComparison.Ordinal);
        Assert.Contains("270,000", page, StringComparison.Ordinal);
        Assert.Contains("8.2", page, StringComparison.Ordinal);
        Assert.True(((IResults)report).IsGood);
        Assert.False(((IResults)(report with { Phases = [report.Phases[0] with { OtherErrors = 1 }] })).IsGood);
    }

    [Fact]
    public void The_cost_of_protection_is_compared_with_the_platform_without_it()
    {
        var report = new CostResult
        {
            Run = Complete,
            InFlight = 200,
            Rounds = 1,
            Sides =
            [
                new CostSide("nothing", [new CostRound(1000, 1, 2, 0, new Dictionary<string, double> { ["proxy"] = 100 })]),
                new CostSide("all of it", [new CostRound(920, 1, 2, 0, new Dictionary<string, double> { ["proxy"] = 131 })]),
            ],
            Audits = [new AuditCounts(1, 1, 0, 0, 0, 0, 0, 1, 1)],
        };
        var page = PageOf(report, CostResult.Format);

        Assert.Contains("all of it: 92 % of the throughput without them.", page, StringComparison.Ordinal);
        Assert.Contains("131", page, StringComparison.Ordinal);
    }

    [Fact]
    public void A_profile_shows_the_steps_and_costs_of_a_payment()
    {
        var page = PageOf(ProfileReports.With(Complete), ProfileResult.Format);

        Assert.Contains("4,657/s with 200 in flight.", page, StringComparison.Ordinal);
        Assert.Contains("store, commit", page, StringComparison.Ordinal);
        Assert.Contains("2,000, 1,000, 0", page, StringComparison.Ordinal);
        Assert.Contains("62.5", page, StringComparison.Ordinal);
        Assert.Contains("statements are not counted", page, StringComparison.Ordinal);
    }

    /// <summary>The page of the results, after a check that the results read from a file give the same page.</summary>
    private string PageOf<T>(T results, ResultFormat<T> format)
    {
        var file = Path.Combine(_folder.FullName, "result.json");
        File.WriteAllBytes(file, JsonSerializer.SerializeToUtf8Bytes(results, format.Json));
        var page = HtmlPage.Of(format.Page(results));
        Assert.Equal(page, HtmlPage.Of(ResultFiles.Read(file)));
        XDocument.Parse(page);
        return page;
    }
}
