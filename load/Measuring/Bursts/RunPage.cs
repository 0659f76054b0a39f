using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Bursts;

/// <summary>The report of a run, for the page and the console. Like that of the billing prototype it shows the number
/// of requests and the shortest, longest and average time for payments and for balances, and the total time.</summary>
internal static class RunPage
{
    public static Report Of(RunResult result) => new()
    {
        Title = "The billing prototype's experiment",
        Subtitle =
            $"{Numbers.Whole(result.RequestsPerS)} requests/s: "
            + $"{Numbers.Whole(result.All.Sum(kind => kind.Figures.Count))} requests in "
            + $"{Numbers.Fixed(result.TotalS, 3)} s, {Numbers.Whole(result.Retried)} retries.",
        Facts =
        [
            .. Facts.Of(result.Run), StoreAudit.Fact(result.Audit is { } audit ? [audit] : []),
            new Fact(
                "Setup",
                $"{Numbers.Counted(result.Clients, "client")}, {result.Proxies} proxies, {Backends(result)}, "
                    + $"transport {result.Transport}, jitter {(result.Jitter ? "on" : "off")}"
                    + $"{(result.Backends is null ? "" : "; all on one machine, including the clients")}"),
            new Fact(
                "Times",
                "of each call: from the moment at which its client sent it; since start: "
                    + "from the start of the burst, at which all calls were due"),
        ],
        Sections = [new Section("", Times(result), Chart(result))],
    };

    private static string Backends(RunResult result) =>
        result.Backends is null ? "that ran already" : result.Protocol is { } protocol
            ? $"{result.Backends.Payments} backends over {protocol}"
            : $"{result.Backends.Payments} payment backends, {result.Backends.Balances} balance backends";

    private static Table Times(RunResult result) => new()
    {
        Title = "Latency in seconds: of each call, and since the start of the burst",
        Columns =
        [
            new Column("", Align.Left), new Column("Count"), new Column("Shortest"),
            new Column("Longest"), new Column("Average"),
            new Column("p50"), new Column("p99"), new Column("Declined"), new Column("Errors"),
        ],
        Rows =
        [
            .. result.All.SelectMany(kind => Rows(char.ToUpperInvariant(kind.Name[0]) + kind.Name[1..], kind.Figures)),
        ],
        Note = result.Failed > 0 ? FailedRequests.Sentence(result.Failed) : "",
    };

    private static IEnumerable<Row> Rows(string kind, KindReport figures)
    {
        yield return new Row(
            kind, Numbers.Whole(figures.Count), Seconds(figures.ShortestS), Seconds(figures.LongestS),
            Seconds(figures.AverageS), Seconds(figures.P50S), Seconds(figures.P99S),
            Numbers.Whole(figures.Declined), Numbers.Whole(figures.Errors));
        var burst = figures.SinceStart;
        yield return new Row(
            "  since start", "", Seconds(burst.ShortestS), Seconds(burst.LongestS), Seconds(burst.AverageS),
            Seconds(burst.P50S), Seconds(burst.P99S), "", "");
    }

    private static BarChart Chart(RunResult result) => new(
        "Latency", new Axis("Latency", "s"), ["shortest", "p50", "average", "p99", "longest"],
        [
            .. result.All.Select(k => Bars.Of(
                k.Name + ", each call",
                [k.Figures.ShortestS, k.Figures.P50S, k.Figures.AverageS, k.Figures.P99S, k.Figures.LongestS])),
            .. result.All.Select(k => Bars.Of(k.Name + ", since start", SinceStart(k.Figures.SinceStart))),
        ]);

    private static double[] SinceStart(
        BurstTimes times) => [times.ShortestS, times.P50S, times.AverageS, times.P99S, times.LongestS];

    private static string Seconds(double seconds) => Numbers.Fixed(seconds, 3);
}
