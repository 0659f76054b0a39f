using System.Text.Json;
using Billing.Auditing;
using Billing.Measuring;
using Billing.Measuring.Comparing.Ceiling;
using Billing.Measuring.Comparing.Eda;
using Billing.Measuring.Comparing.Paper;
using Billing.Measuring.Comparing.Rpc;
using Billing.Measuring.Comparing.Scale;
using Billing.Measuring.Sweeping;
using Billing.Reporting;
using Billing.Reporting.Pages;

namespace Billing.UnitTests.Measuring.Comparing;

/// <summary>The sources, limitations and units that a page must state beside its figures.</summary>
public sealed class PageStatementsTests
{
    // In the order of the sources below.
    private static readonly string[] ComparedWithPapers = ["paper", "scale", "eda", "rpc", "sweep"];
    private static readonly Source[] All = [Sources.Prototype, Sources.Thesis, Sources.EventDriven, Sources.Rpcx, Sources.IceLab];

    public static TheoryData<string> Kinds => [.. ExampleResults.Kinds];

    public static TheoryData<string> WithLatencies => [.. ExampleResults.Kinds.Except(["rpc"])];

    [Theory]
    [MemberData(nameof(Kinds))]
    public void A_page_names_a_paper_exactly_if_it_shows_figures_of_the_paper(string kind)
    {
        var page = ExampleResults.Of(kind, [ExampleResults.Clean]).Page();
        var printsFigures = page.Sections.SelectMany(s => s.Blocks).OfType<Table>().Any(table => table.Columns.Any(c => c.IsPaper));

        Assert.Equal(printsFigures ? 1 : 0, page.Facts.Count(fact => All.Any(source => fact.Value == source.Citation)));
    }

    [Fact]
    public void Each_of_the_five_papers_is_named_by_the_comparison_with_it() => Assert.Equal(
        All.Select(s => s.Title),
        ComparedWithPapers.Select(kind =>
            All.Single(source => ExampleResults.Of(kind, [ExampleResults.Clean]).Page().Facts.Any(f => f.Value == source.Citation)).Title));

    [Fact]
    public void A_citation_has_title_authors_year_and_tables()
    {
        Assert.All(All, source =>
        {
            Assert.Contains(source.Title, source.Citation, StringComparison.Ordinal);
            Assert.Contains(source.Authors, source.Citation, StringComparison.Ordinal);
            Assert.Contains("able", source.Figures, StringComparison.Ordinal);
            Assert.Contains(source.Year is { } year ? $"{year}" : "undated", source.Citation, StringComparison.Ordinal);
        });
        Assert.Equal(2015, Sources.Thesis.Year);
        Assert.Equal(2022, Sources.EventDriven.Year);
    }

    [Fact]
    public void Results_also_name_the_paper_in_their_JSON()
    {
        Assert.Equal(Sources.Prototype.Title, TitleIn(Results<PaperResult>("paper"), PaperResult.Format, "source"));
        Assert.Equal(Sources.Thesis.Title, TitleIn(Results<ScaleResult>("scale"), ScaleResult.Format, "source"));
        Assert.Equal(Sources.EventDriven.Title, TitleIn(Results<EdaResult>("eda"), EdaResult.Format, "source"));
        Assert.Equal(Sources.IceLab.Title, TitleIn(Results<SweepResult>("sweep"), SweepResult.Format, "source"));
        Assert.Equal(Sources.Rpcx.Title, TitleIn(ExampleResults.Rpc(), RpcResult.Format, "paper", "source"));
    }

    [Theory]
    [MemberData(nameof(WithLatencies))]
    public void A_page_with_failed_requests_states_that_latencies_exclude_them(string kind)
    {
        var sentence = FailedRequests.Sentence(3);

        Assert.Contains(ExampleResults.Of(kind, [ExampleResults.Clean], failed: 3).Page().Facts, fact => fact.Value == sentence);
        Assert.DoesNotContain(ExampleResults.Of(kind, [ExampleResults.Clean]).Page().Facts, fact => fact.Name == "Failed requests");
    }

    [Fact]
    public void The_prototypes_figures_are_shown_beside_the_times_since_the_start_of_the_burst()
    {
        var report = Results<PaperResult>("paper");
        var table = PaperResult.Format.Page(report).Sections[0].Blocks.OfType<Table>().Single();

        Assert.Equal("Since the start of the burst: min", table.Columns[2].Name);
        Assert.Equal(["0.20", "2.40", "1.20", "1.66", "7.89", "4.45"], table.Rows[0].Cells.Skip(2).Take(6).Select(c => c.Text));
        Assert.Equal(7.89 / 2.4, report.Cases[0].LongestSinceStartRatio);
        Assert.Equal(7.89 / 2, report.Cases[0].LongestRatio);
    }

    [Fact]
    public void A_burst_without_times_since_its_start_is_not_compared_with_the_prototype()
    {
        var report = Results<PaperResult>("paper");
        var measured = report.Cases[0];
        var old = report with { Cases = [measured with { Rounds = [.. measured.Rounds.Select(r => r with { SinceStart = null })] }] };

        Assert.Null(old.Cases[0].LongestSinceStartRatio);
        Assert.Contains("Nothing was measured", PaperResult.Format.Page(old).Subtitle, StringComparison.Ordinal);
    }

    [Fact]
    public void Both_kinds_of_backends_of_the_event_driven_side_are_counted()
    {
        var sides = EdaResult.Format.Page(Results<EdaResult>("eda")).Facts.Single(f => f.Name == "Sides").Value;

        Assert.Contains("3 payment backends and 3 balance backends", sides, StringComparison.Ordinal);
        Assert.Contains("3 backends that do both", sides, StringComparison.Ordinal);
    }

    [Fact]
    public void Scaling_is_described_as_simulated_work_and_not_as_nodes_of_the_thesis()
    {
        var report = Results<ScaleResult>("scale") with
        {
            Series = [new ScaleSeries(ScaleKind.Writes, [new ScaleStep(1, [new ScaleRound(80, 1, 2, 0)]), new ScaleStep(8, [new ScaleRound(560, 1, 2, 0)])])],
        };
        var page = ScaleResult.Format.Page(report);
        var text = page.Sections[0].Blocks.OfType<Prose>().Single().Content;

        Assert.Equal("Writes: 8 times the backends handle 7.0 times as much simulated work on the same cores.", page.Subtitle);
        Assert.Contains("at most 80/s, where one node of the thesis answered 175/s", text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1, "one sample")]
    [InlineData(3, "medians of 3 samples")]
    public void The_cost_of_a_request_states_its_number_of_samples(int samples, string expected)
    {
        var costs = StageCosts.Of(ScaleKind.Writes, [.. Enumerable.Range(1, samples).Select(n => new StageSample(1000 * n, 0, new Dictionary<string, double> { ["proxy"] = 100 * n }))]);
        var page = HtmlPage.Of(ScaleResult.Format.Page(Results<ScaleResult>("scale") with { Costs = [costs] }));

        Assert.Contains(expected, page, StringComparison.Ordinal);
        Assert.Equal(samples == 1 ? 100 : 200, costs.MicrosecondsByProgram["proxy"]);
        Assert.Equal(samples > 1, page.Contains("200 (100–300) µs", StringComparison.Ordinal));
    }

    [Fact]
    public void A_page_of_a_sweep_claims_stored_payments_only_after_a_clean_audit()
    {
        const string Claim = "The audit found an event stored for every payment";
        string Page(params AuditCounts[] audits) => HtmlPage.Of(SweepResult.Format.Page(ExampleResults.Sweep(audits, [ExampleResults.Cell(1, 1, 100)])));

        Assert.Contains(Claim, Page(ExampleResults.Clean), StringComparison.Ordinal);
        Assert.DoesNotContain(Claim, Page(ExampleResults.Clean with { Lost = 1 }), StringComparison.Ordinal);
        Assert.Contains("was not audited", Page(), StringComparison.Ordinal);
        Assert.Contains("56,000/s on 16 cores, 3,500/s for each; 7,500/s on one core", Page(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_burst_against_the_echo_states_the_start_of_its_latencies() => Assert.Contains(
        "of a burst count from its start", HtmlPage.Of(CeilingResult.Format.Page(Results<CeilingResult>("ceiling"))), StringComparison.Ordinal);

    private static T Results<T>(string kind) => (T)ExampleResults.Of(kind, [ExampleResults.Clean]).Results;

    private static string? TitleIn<T>(T results, ResultFormat<T> format, params string[] path)
    {
        using var json = JsonDocument.Parse(JsonSerializer.SerializeToUtf8Bytes(results, format.Json));
        return path.Aggregate(json.RootElement, (element, name) => element.GetProperty(name)).GetProperty("title").GetString();
    }
}
