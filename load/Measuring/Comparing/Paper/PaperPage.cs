using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Paper;

/// <summary>The burst tables as a page.</summary>
internal static class PaperPage
{
    public static Report Of(PaperResult result) => new()
    {
        Title = "The billing prototype's tables, made again",
        Subtitle = Sentence(result),
        Facts =
        [
            .. Facts.Of(result.Run), Books.Fact(result.Audits), Sources.Prototype.Fact(),
            new Fact("Shape", $"{result.Clients} clients, {result.Proxies} proxies, {Numbers.Counted(result.Brokers, "Kafka broker")} over transport {result.Transport}, as many partitions of a topic as backends, all on this machine, a stack for each number of backends, which both run all the time; the paper's ran on fifteen machines, and stored nothing"),
            new Fact("Method", $"each client sends {Numbers.Whole(result.WarmUp)} payments first, unmeasured; {result.Rounds} rounds count, one before them is dropped; within a round sizes and numbers of backends in turn; medians, least to greatest"),
            new Fact("Times", "since the burst began: all payments are meant for that moment, and what the clients take to send them counts. A call's own time begins when its client gets to it; the paper's clients had a stopwatch for each request"),
        ],
        Sections =
        [
            .. result.Cases.GroupBy(c => c.Jitter).Select(cases => Section(cases.Key, [.. cases])),
            new Section("The books", [Audits(result)]),
        ],
    };

    private static string Sentence(PaperResult result)
    {
        var compared = result.Cases.Where(c => c.LongestSinceStartRatio is not null).ToList();
        return compared.Count == 0
            ? "Nothing was measured that the prototype printed too."
            : $"The last answer came sooner after the burst began than the prototype's longest request took in {compared.Count(c => c.LongestSinceStartRatio > 1)} of {compared.Count} cases.";
    }

    private static Section Section(bool jitter, List<PaperCase> cases) => new(
        jitter ? "With jitter: the card network takes 100 to 1,000 ms" : "Without jitter",
        new Table
        {
            Title = jitter ? "Seconds, with jitter" : "Seconds, without jitter",
            Columns =
            [
                new Column("Requests a client"), new Column("Backends"),
                new Column("Since the burst began: shortest"), new Column("longest"), new Column("average"),
                new Column("Paper: shortest", IsPaper: true), new Column("longest", IsPaper: true), new Column("average", IsPaper: true),
                new Column("Paper's longest / ours"), new Column("A call's own: shortest"), new Column("longest"), new Column("average"),
                new Column("Total"), new Column("Failed"),
            ],
            Rows = [.. cases.Select(Row)],
            Note = "In brackets the least and the greatest of the rounds. The total ends with the last client's last answer.",
        },
        new BarChart(
            jitter ? "Last answer since the burst began, with jitter" : "Last answer since the burst began, without jitter", new Axis("Time", "s"),
            [.. cases.Select(c => $"3 x {Numbers.Whole(c.Requests)}, {Numbers.Counted(c.Backends, "backend")}")],
            new Bars("measured here", [.. cases.Select(c => c.LongestSinceStart.Max == 0 ? null : c.LongestSinceStart)]),
            Bars.Of("longest request printed in the paper", cases.Select(c => c.Printed?.Longest ?? double.NaN))));

    private static Row Row(PaperCase measured) => new(
        Numbers.Whole(measured.Requests), Numbers.Whole(measured.Backends),
        Seconds(measured.ShortestSinceStart), Seconds(measured.LongestSinceStart), Seconds(measured.AverageSinceStart),
        Printed(measured.Printed?.Shortest), Printed(measured.Printed?.Longest), Printed(measured.Printed?.Average),
        measured.LongestSinceStartRatio is { } ratio ? Numbers.Fixed(ratio, 2) : Numbers.None,
        Seconds(measured.Shortest), Seconds(measured.Longest), Seconds(measured.Average), Seconds(measured.Total),
        Numbers.Whole(measured.Rounds.Sum(r => r.Errors)));

    private static Table Audits(PaperResult result) => new()
    {
        Title = "What the clients were told against what is stored",
        Columns = [new Column("Acknowledged"), new Column("Recorded"), new Column("Lost"), new Column("Doubled"), new Column("Wrong"), new Column("Unbalanced"), new Column("Misjudged")],
        Rows = [.. result.Audits.Select(a => new Row(
            Numbers.Whole(a.Acknowledged), Numbers.Whole(a.Recorded), Numbers.Whole(a.Lost), Numbers.Whole(a.Doubled), Numbers.Whole(a.Wrong), Numbers.Whole(a.Unbalanced), Numbers.Whole(a.Misjudged)))],
        Note = "One row for each stack: every acknowledged payment must be recorded exactly once.",
    };

    private static string Seconds(Spread spread) => spread.Max == 0
        ? Numbers.None
        : Numbers.Around(spread, 2);

    private static string Printed(double? seconds) => seconds is { } s ? Numbers.Fixed(s, 2) : Numbers.None;
}
