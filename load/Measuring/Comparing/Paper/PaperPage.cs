using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Paper;

/// <summary>The burst tables as a page.</summary>
internal static class PaperPage
{
    public static Report Of(PaperReport report) => new()
    {
        Title = "The billing prototype's tables, made again",
        Subtitle = Sentence(report),
        Facts =
        [
            .. Facts.Of(report.Run),
            new Fact("Shape", $"{report.Clients} clients, {report.Proxies} proxies, {Numbers.Counted(report.Brokers, "Kafka broker")} over transport {report.Transport}, as many partitions of a topic as backends, all on this machine; the paper's ran on fifteen, and stored nothing"),
            new Fact("Method", $"each client sends {Numbers.Whole(report.WarmUp)} payments first, unmeasured; {report.Rounds} rounds count, one before them is dropped; the sizes in turn within a round; medians, least to greatest"),
        ],
        Sections =
        [
            .. report.Cases.GroupBy(c => c.Jitter).Select(cases => Section(cases.Key, [.. cases])),
            new Section("The books", [Audits(report)]),
        ],
    };

    private static string Sentence(PaperReport report)
    {
        var compared = report.Cases.Where(c => c.LongestRatio is not null).ToList();
        return compared.Count == 0
            ? "Nothing was measured."
            : $"The longest request took less time than the prototype's in {compared.Count(c => c.LongestRatio > 1)} of {compared.Count} cases.";
    }

    private static Section Section(bool jitter, List<PaperCase> cases) => new(
        jitter ? "With jitter: the card network takes 100 to 1,000 ms" : "Without jitter",
        new Table
        {
            Title = jitter ? "Seconds, with jitter" : "Seconds, without jitter",
            Columns =
            [
                new Column("Requests a client"), new Column("Backends"),
                new Column("Shortest"), new Column("Longest"), new Column("Average"), new Column("Total"),
                new Column("Paper: shortest", IsPaper: true), new Column("longest", IsPaper: true), new Column("average", IsPaper: true),
                new Column("Paper's longest / ours"), new Column("Failed"),
            ],
            Rows = [.. cases.Select(Row)],
            Note = "In brackets the least and the greatest of the rounds.",
        },
        new BarChart(
            jitter ? "Longest request, with jitter" : "Longest request, without jitter", new Axis("Time", "s"),
            [.. cases.Select(c => $"3 x {Numbers.Whole(c.Requests)}, {Numbers.Counted(c.Backends, "backend")}")],
            new Bars("measured here", [.. cases.Select(c => c.Rounds.Count == 0 ? null : c.Longest)]),
            Bars.Of("printed in the paper", cases.Select(c => c.Printed?.Longest ?? double.NaN))));

    private static Row Row(PaperCase measured) => new(
        Numbers.Whole(measured.Requests), Numbers.Whole(measured.Backends),
        Seconds(measured.Shortest), Seconds(measured.Longest), Seconds(measured.Average), Seconds(measured.Total),
        Printed(measured.Printed?.Shortest), Printed(measured.Printed?.Longest), Printed(measured.Printed?.Average),
        measured.LongestRatio is { } ratio ? Numbers.Fixed(ratio, 2) : Numbers.None,
        Numbers.Whole(measured.Rounds.Sum(r => r.Errors)));

    private static Table Audits(PaperReport report) => new()
    {
        Title = "What the clients were told against what is stored",
        Columns = [new Column("Acknowledged"), new Column("Recorded"), new Column("Lost"), new Column("Doubled"), new Column("Wrong"), new Column("Unbalanced"), new Column("Misjudged")],
        Rows = [.. report.Audits.Select(a => new Row(
            Numbers.Whole(a.Acknowledged), Numbers.Whole(a.Recorded), Numbers.Whole(a.Lost), Numbers.Whole(a.Doubled), Numbers.Whole(a.Wrong), Numbers.Whole(a.Unbalanced), Numbers.Whole(a.Misjudged)))],
        Note = "One row for each stack: every acknowledged payment must be recorded exactly once.",
    };

    private static string Seconds(Spread spread) => spread.Max == 0
        ? Numbers.None
        : Numbers.Around(spread, 2);

    private static string Printed(double? seconds) => seconds is { } s ? Numbers.Fixed(s, 2) : Numbers.None;
}
