using System.Text.Json;
using Billing.Auditing;
using Billing.Driver;
using Billing.Measuring;
using Billing.Measuring.Experiments;
using Billing.Measuring.Loads;
using Billing.Reporting;
using Billing.Reporting.Pages;
using Spectre.Console;

namespace Billing.UnitTests.Measuring.Experiments;

/// <summary>The order of the measurements, and the results that they leave.</summary>
public sealed class ExperimentRunnerTests : IDisposable
{
    private static readonly AuditCounts Clean = new(1, 1, 0, 0, 0, 0, 0, 1, 1);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-experiment-");
    private readonly StringWriter _output = new();
    private readonly List<string> _log = [];

    public void Dispose()
    {
        _folder.Delete(recursive: true);
        _output.Dispose();
    }

    [Fact]
    public async Task The_order_of_cases_and_sides_alternates_and_the_first_round_is_dropped()
    {
        var result = await RunAsync(PartOf(["a", "b"], ["x", "y"], rounds: 2));

        Assert.Equal(
            ["a x", "b x", "a y", "b y", "b y", "a y", "b x", "a x", "a x", "b x", "a y", "b y"], Measurements());
        Assert.Equal(["x a", "x b", "y a", "y b"], result.Sections[0].Rows.Select(r => $"{r.Case} {r.Side}"));
        Assert.Equal([8.0, 9.0], result.Sections[0].Rows[0].Values(Figure.PerSecond));
        Assert.Equal(1, _log.Count(line => line == "start a"));
    }

    [Fact]
    public async Task Each_measurement_of_a_cold_part_has_a_side_of_its_own_and_none_is_dropped()
    {
        var result = await RunAsync(PartOf(["a"], ["x", "y"], rounds: 2) with { IsCold = true });

        Assert.Equal(4, _log.Count(line => line == "start a"));
        Assert.Equal(4, _log.Count(line => line == "end a"));
        Assert.All(result.Sections[0].Rows, row => Assert.Equal(2, row.Rounds.Count));
        Assert.Equal(4, result.Audits.Count);
    }

    [Theory]
    [InlineData(0, false, true)]
    [InlineData(1, false, false)]
    [InlineData(1, true, true)]
    public async Task A_failed_request_makes_the_results_invalid_unless_failures_are_measured(
        int failed, bool mayFail, bool isGood)
    {
        var part = PartOf(["a"], ["x"], rounds: 1, failed);

        var result = await RunAsync(part with { Cases = [part.Cases[0] with { MayFail = mayFail }] });

        Assert.Equal(isGood, ((IResults)result).IsGood);
    }

    [Fact]
    public async Task A_failed_request_in_the_dropped_round_makes_the_results_invalid_too()
    {
        var part = PartOf(["a"], ["x"], rounds: 1);
        var calls = 0;
        var failing = new Case("s", "x", (_, _) => Task.FromResult(MeasuredOf(1, calls++ == 0 ? 1 : 0)));

        Assert.False(((IResults)await RunAsync(part with { Cases = [failing] })).IsGood);
    }

    [Fact]
    public void Results_are_good_only_with_a_clean_audit_of_every_store_that_was_measured()
    {
        var result = Example.Result([Clean]);

        Assert.True(((IResults)result).IsGood);
        Assert.False(((IResults)(result with { Audits = [] })).IsGood);
        Assert.True(((IResults)(result with { Audits = [], HasStore = false })).IsGood);
        Assert.All(
            new[]
            {
                Clean with { Lost = 1 }, Clean with { Doubled = 1 }, Clean with { Wrong = 1 }, Clean with { Holes = 1 },
                Clean with { Unbalanced = 1 }, Clean with { Misjudged = 1 }, Clean with { Miscounted = 1 },
            },
            unclean => Assert.False(((IResults)(result with { Audits = [Clean, unclean] })).IsGood));
    }

    [Fact]
    public async Task What_was_measured_until_a_stop_is_kept()
    {
        using var stop = new CancellationTokenSource();
        var part = PartOf(["a"], ["x"], rounds: 5);
        var rounds = 0;
        var stopping = new Case("s", "x", (_, _) =>
        {
            if (++rounds == 4)
            {
                stop.Cancel();
            }
            return Task.FromResult(MeasuredOf(rounds, 0));
        });

        var result = await RunAsync(part with { Cases = [stopping] }, stop.Token);

        Assert.Equal([2.0, 3.0], result.Sections[0].Rows[0].Values(Figure.PerSecond));
        Assert.Equal("interrupted", result.Run.Reason);
        Assert.Contains("Ended early", HtmlPage.Of(ExperimentPage.Of(result)), StringComparison.Ordinal);
        Assert.Contains("end a", _log);
    }

    private IEnumerable<string> Measurements() => _log.Where(line => !line.StartsWith("start", StringComparison.Ordinal)
        && !line.StartsWith("end", StringComparison.Ordinal));

    private Part PartOf(string[] sides, string[] cases, int rounds, int failed = 0)
    {
        var measurements = 0;
        return new Part(
            [.. sides.Select(name => new SidePlan(name, _ => Task.FromResult<Side>(new LoggedSide(name, _log))))],
            [
                .. cases.Select(name => new Case("s", name, (side, _) =>
                {
                    _log.Add($"{side.Name} {name}");
                    return Task.FromResult(MeasuredOf(++measurements, failed));
                })),
            ],
            rounds);
    }

    private static Measured MeasuredOf(double perSecond, int failed) => new(
        new Dictionary<string, double> { [Figure.PerSecond.Id] = perSecond },
        failed > 0 ? new Dictionary<string, long> { ["Unavailable"] = failed } : new Dictionary<string, long>());

    private async Task<ExperimentResult> RunAsync(Part part, CancellationToken cancellationToken = default)
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(_output) });
        var experiment = new Experiment
        {
            Kind = "compare-scale",
            Title = "An experiment",
            Sections = [new SectionPlan("s", "Case", Figure.PerSecond)],
            Parts = [part],
        };
        var folder = Path.Combine(_folder.FullName, "results");
        var measurement = new Measurement("c", new ResultFolder(console, folder), console, TimeProvider.System);
        await new ExperimentRunner(experiment, measurement, console).RunAsync(cancellationToken);
        return JsonSerializer.Deserialize(
            await File.ReadAllBytesAsync(Path.Combine(folder, "result.json"), CancellationToken.None),
            ExperimentJson.Default.ExperimentResult)!;
    }

    private sealed class LoggedSide : Side
    {
        private readonly List<string> _log;

        public LoggedSide(string name, List<string> log)
            : base(name)
        {
            _log = log;
            log.Add("start " + name);
        }

        public override Task<LoadFigures> LoadAsync(LoadSpec load, int drivers, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public override Task<AuditCounts?> AuditAsync(IAnsiConsole console, CancellationToken cancellationToken) =>
            Task.FromResult<AuditCounts?>(Clean);

        public override ValueTask DisposeAsync()
        {
            _log.Add("end " + Name);
            return ValueTask.CompletedTask;
        }
    }
}
