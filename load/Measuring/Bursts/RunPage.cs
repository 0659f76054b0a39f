using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Bursts;

/// <summary>A run as a page, and as the terminal has it: as the billing prototype printed one, number of requests, shortest, longest
/// and average time for payments and for balances, and the total time.</summary>
internal static class RunPage
{
    public static Report Of(RunReport report) => new()
    {
        Title = "The billing prototype's experiment",
        Subtitle = $"{Numbers.Whole(report.RequestsPerS)} requests/s: {Numbers.Whole(report.Payments.Count + report.Balances.Count)} requests in {Numbers.Fixed(report.TotalS, 3)} s, {Numbers.Whole(report.Retried)} calls sent again.",
        Facts =
        [
            .. Facts.Of(report.Run), Books.Fact([report.Audit]),
            new Fact("Shape", $"{Numbers.Counted(report.Clients, "client")}, {report.Proxies} proxies, {Backends(report)}, transport {report.Transport}, jitter {(report.Jitter ? "on" : "off")}; all on one machine, the clients too"),
            new Fact("Times", "of each call, from when its client got to it; and since start: from when all were to be sent at once"),
        ],
        Sections = [new Section("", Times(report), Chart(report))],
    };

    private static string Backends(RunReport report) => report.Protocol is { } protocol
        ? $"{report.Backends.Payments} backends over {protocol}"
        : $"{report.Backends.Payments} payment backends, {report.Backends.Balances} balance backends";

    private static Table Times(RunReport report) => new()
    {
        Title = "Seconds until the answers: of each call, and since all were to be sent at once",
        Columns =
        [
            new Column("", Align.Left), new Column("Count"), new Column("Shortest"), new Column("Longest"), new Column("Average"),
            new Column("p50"), new Column("p99"), new Column("Declined"), new Column("Errors"),
        ],
        Rows = [.. Rows("Payments", report.Payments), .. report.Balances.Count > 0 ? Rows("Balances", report.Balances) : []],
        Note = report.Failed > 0 ? FailedRequests.Sentence(report.Failed) : "",
    };

    private static IEnumerable<Row> Rows(string kind, KindReport figures)
    {
        yield return new Row(
            kind, Numbers.Whole(figures.Count), Seconds(figures.ShortestS), Seconds(figures.LongestS), Seconds(figures.AverageS),
            Seconds(figures.P50S), Seconds(figures.P99S), Numbers.Whole(figures.Declined), Numbers.Whole(figures.Errors));
        if (figures.SinceStart is { } burst)
        {
            yield return new Row(
                "  since start", "", Seconds(burst.ShortestS), Seconds(burst.LongestS), Seconds(burst.AverageS), Seconds(burst.P50S),
                Seconds(burst.P99S), "", "");
        }
    }

    private static BarChart Chart(RunReport report)
    {
        (string Kind, KindReport Figures)[] kinds = report.Balances.Count > 0
            ? [("payments", report.Payments), ("balances", report.Balances)]
            : [("payments", report.Payments)];
        return new BarChart(
            "Seconds until the answers", new Axis("Time", "s"), ["shortest", "p50", "average", "p99", "longest"],
            [
                .. kinds.Select(k => Bars.Of(k.Kind + ", each call", [k.Figures.ShortestS, k.Figures.P50S, k.Figures.AverageS, k.Figures.P99S, k.Figures.LongestS])),
                .. kinds.Where(k => k.Figures.SinceStart is not null).Select(k => Bars.Of(k.Kind + ", since start", SinceStart(k.Figures.SinceStart!))),
            ]);
    }

    private static double[] SinceStart(BurstTimes times) => [times.ShortestS, times.P50S, times.AverageS, times.P99S, times.LongestS];

    private static string Seconds(double seconds) => Numbers.Fixed(seconds, 3);
}
