using System.Text.Json;
using Billing.Cli.Commands.Measurements;
using Billing.Measuring;
using Billing.Measuring.Experiments;
using Billing.Measuring.Experiments.Comparisons;
using Billing.Reporting;
using Billing.Reporting.Pages;
using Spectre.Console;
using Table = Billing.Reporting.Table;

namespace Billing.UnitTests.Measuring.Experiments;

/// <summary>What the page of an experiment states beside its figures.</summary>
public sealed class ExperimentPageTests : IDisposable
{
    private static readonly Source[] All =
    [
        Sources.Prototype, Sources.Thesis, Sources.EventDriven, Sources.Rpcx, Sources.IceLab,
    ];

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-pages-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void Every_figure_has_its_number_of_measurements_median_and_range()
    {
        var table = TableOf(Example.Result([]));

        Assert.Equal(
            ["Load", "Side", "n", "Answers, ratio to the first side", "Answers", "p99", "published"],
            table.Columns.Select(c => c.Name));
        Assert.Equal(
            ["200 in flight", "with", "5", "1.00 (0.80–1.20; no difference seen)", "1,000 (800–1,200)", "12.3", "474"],
            table.Rows[1].Cells.Select(c => c.Text));
        Assert.True(table.Columns[6].IsPaper);
    }

    [Fact]
    public void Fewer_than_five_pairs_give_no_verdict() => Assert.EndsWith(
        "no verdict: 4 pairs, five are needed)",
        TableOf(Example.Result([], rounds: 4)).Rows[1].Cells[3].Text, StringComparison.Ordinal);

    [Fact]
    public void A_difference_is_a_verdict_if_all_pairs_agree()
    {
        var result = Example.Result([]);
        var section = result.Sections[0];
        var pairs = Pairs.Of(
            section.Rows[0],
            section.Rows[1] with { Rounds = [.. section.Rows[1].Rounds.Select(_ => section.Rows[1].Rounds[0])] },
            Figure.PerSecond);

        Assert.Equal("0.80 (0.80–0.80)", pairs.Text);
    }

    [Fact]
    public void Failed_requests_are_named_and_the_page_states_that_latencies_exclude_them()
    {
        var result = Example.Result([]);
        var row = result.Sections[0].Rows[0];
        var failed = row with
        {
            Rounds = [row.Rounds[0] with { Errors = new Dictionary<string, long> { ["Unavailable."] = 3 } }],
        };
        var page = HtmlPage.Of(ExperimentRunner.FormatOf("compare-scale")
            .Page(result with { Sections = [result.Sections[0] with { Rows = [failed] }] }));

        Assert.Contains("200 in flight, without: failed 3 x Unavailable.", page, StringComparison.Ordinal);
        Assert.Contains(FailedRequests.Sentence(3), page, StringComparison.Ordinal);
    }

    [Fact]
    public void A_page_names_the_paper_and_so_does_the_JSON()
    {
        Assert.Contains(
            Sources.Thesis.Citation, HtmlPage.Of(ExperimentPage.Of(Example.Result([]))), StringComparison.Ordinal);
        using var json = JsonDocument.Parse(
            JsonSerializer.SerializeToUtf8Bytes(Example.Result([]), ExperimentJson.Default.ExperimentResult));
        Assert.Equal(Sources.Thesis.Title, json.RootElement.GetProperty("source").GetProperty("title").GetString());
        Assert.Equal(1, json.RootElement.GetProperty("version").GetInt32());
    }

    [Fact]
    public void A_citation_has_title_authors_year_and_tables() => Assert.All(All, source =>
    {
        Assert.Contains(source.Title, source.Citation, StringComparison.Ordinal);
        Assert.Contains(source.Authors, source.Citation, StringComparison.Ordinal);
        Assert.Contains("able", source.Figures, StringComparison.Ordinal);
        Assert.Contains(source.Year is { } year ? $"{year}" : "undated", source.Citation, StringComparison.Ordinal);
    });

    [Fact]
    public void Each_comparison_with_a_paper_cites_it_and_says_in_what_it_differs()
    {
        Experiment[] plans =
        [
            PaperExperiment.Plan([5_000], 5, 1000, AnsiConsole.Console),
            ScaleExperiment.Plan(
                new ScaleExperiment.Options(
                    [1, 8], [1, 12], [1, 2], 5, TimeSpan.FromSeconds(5), 4000, IsAsInThesis: false),
                AnsiConsole.Console),
            EdaExperiment.Plan(
                new EdaExperiment.Options(
                    "grpc", [100], HasStudyRates: false, 5, 500, TimeSpan.FromSeconds(5), 15_000, 3),
                AnsiConsole.Console),
            RpcExperiment.Plan(RpcExperiment.Grid.Default),
        ];

        Assert.Equal(
            [Sources.Prototype, Sources.Thesis, Sources.EventDriven, Sources.Rpcx], plans.Select(p => p.Paper));
        Assert.All(plans, plan => Assert.NotEmpty(plan.Facts));
        Assert.All(plans, plan => Assert.All(
            plan.Parts.SelectMany(p => p.Cases), c => Assert.Contains(plan.Sections, s => s.Title == c.Section)));
    }

    [Fact]
    public void The_prototypes_figures_stand_beside_the_times_since_the_start_of_the_burst()
    {
        var plan = PaperExperiment.Plan([25_000], 5, 1000, AnsiConsole.Console);

        Assert.All(
            plan.Parts.SelectMany(p => p.Cases).Take(3),
            c => Assert.Equal(7.89, c.Published["3 backends"][Figure.LongestS.Id]));
    }

    [Fact]
    public void A_result_file_gives_the_same_page_as_the_results()
    {
        var file = Path.Combine(_folder.FullName, "result.json");
        var result = Example.Result([]);
        File.WriteAllBytes(file, JsonSerializer.SerializeToUtf8Bytes(result, ExperimentJson.Default.ExperimentResult));

        Assert.Equal(
            HtmlPage.Of(ExperimentRunner.FormatOf(result.Kind).Page(result)), HtmlPage.Of(ResultFiles.Read(file)));
    }

    private static Table TableOf(ExperimentResult result) =>
        ExperimentPage.Of(result).Sections[0].Blocks.OfType<Table>().Single();
}
