using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Paper;

/// <summary>The results of the bursts as a page.</summary>
internal static class PaperPage
{
    public static Report Of(PaperResult result) => new()
    {
        Title = "The billing prototype's measurements, repeated",
        Subtitle = Sentence(result),
        Facts =
        [
            .. Facts.Of(result.Run), StoreAudit.Fact(result.Audits), Sources.Prototype.Fact(),
            new Fact("Setup", $"{result.Clients} clients, {result.Proxies} proxies, {Numbers.Counted(result.Brokers, "Kafka broker")}, transport {result.Transport}, one partition of each topic per backend, all on this machine; one stack for each number of backends, both running all the time; the paper's setup ran on fifteen machines and stored nothing"),
            new Fact("Method", $"each client sends {Numbers.Whole(result.WarmUp)} unmeasured payments first; {result.Rounds} rounds, after one that is dropped; each round measures all sizes and numbers of backends; figures are medians (minimum to maximum)"),
            new Fact("Times", "since the start of the burst: all payments are due at that moment, so the time that the clients take to send them counts. The time of a single call begins when its client sends it; the paper's clients used one stopwatch per request"),
        ],
        Sections =
        [
            .. result.Cases.GroupBy(c => c.Jitter).Select(cases => Section(cases.Key, [.. cases])),
            new Section("Audits", [Audits(result)]),
        ],
    };

    private static string Sentence(PaperResult result)
    {
        var compared = result.Cases.Where(c => c.LongestSinceStartRatio is not null).ToList();
        return compared.Count == 0
            ? "Nothing was measured that can be compared with the prototype's figures."
            : $"In {compared.Count(c => c.LongestSinceStartRatio > 1)} of {compared.Count} cases, the time from the start of the burst to the last answer was shorter than the prototype's longest request.";
    }

    private static Section Section(bool jitter, List<PaperCase> cases) => new(
        jitter ? "With jitter: the card network takes 100 to 1,000 ms" : "Without jitter",
        new Table
        {
            Title = jitter ? "Seconds, with jitter" : "Seconds, without jitter",
            Columns =
            [
                new Column("Requests per client"), new Column("Backends"),
                new Column("Since the start of the burst: min"), new Column("max"), new Column("mean"),
                new Column("Paper: min", IsPaper: true), new Column("max", IsPaper: true), new Column("mean", IsPaper: true),
                new Column("Paper's max / ours"), new Column("Single calls: min"), new Column("max"), new Column("mean"),
                new Column("Total"), new Column("Failed"),
            ],
            Rows = [.. cases.Select(Row)],
            Note = "In brackets, the minimum and the maximum of the rounds. The total ends with the last answer of the last client.",
        },
        new BarChart(
            jitter ? "Time from the start of the burst to the last answer, with jitter" : "Time from the start of the burst to the last answer, without jitter", new Axis("Time", "s"),
            [.. cases.Select(c => $"3 x {Numbers.Whole(c.Requests)}, {Numbers.Counted(c.Backends, "backend")}")],
            new Bars("measured here", [.. cases.Select(c => c.LongestSinceStart.Max == 0 ? null : c.LongestSinceStart)]),
            Bars.Of("the paper's longest request", cases.Select(c => c.Printed?.Longest ?? double.NaN))));

    private static Row Row(PaperCase measured) => new(
        Numbers.Whole(measured.Requests), Numbers.Whole(measured.Backends),
        Seconds(measured.ShortestSinceStart), Seconds(measured.LongestSinceStart), Seconds(measured.AverageSinceStart),
        Printed(measured.Printed?.Shortest), Printed(measured.Printed?.Longest), Printed(measured.Printed?.Average),
        measured.LongestSinceStartRatio is { } ratio ? Numbers.Fixed(ratio, 2) : Numbers.None,
        Seconds(measured.Shortest), Seconds(measured.Longest), Seconds(measured.Average), Seconds(measured.Total),
        Numbers.Whole(measured.Rounds.Sum(r => r.Errors)));

    private static Table Audits(PaperResult result) => new()
    {
        Title = "Answers to the clients compared with the event store",
        Columns = [new Column("Acknowledged"), new Column("Recorded"), new Column("Lost"), new Column("Doubled"), new Column("Wrong"), new Column("Unbalanced"), new Column("Misjudged")],
        Rows = [.. result.Audits.Select(a => new Row(
            Numbers.Whole(a.Acknowledged), Numbers.Whole(a.Recorded), Numbers.Whole(a.Lost), Numbers.Whole(a.Doubled), Numbers.Whole(a.Wrong), Numbers.Whole(a.Unbalanced), Numbers.Whole(a.Misjudged)))],
        Note = "One row per stack; every acknowledged payment must be recorded exactly once.",
    };

    private static string Seconds(Spread spread) => spread.Max == 0
        ? Numbers.None
        : Numbers.Around(spread, 2);

    private static string Printed(double? seconds) => seconds is { } s ? Numbers.Fixed(s, 2) : Numbers.None;
}
