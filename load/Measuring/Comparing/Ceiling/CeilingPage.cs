using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Ceiling;

/// <summary>The comparison of the whole path with the echo as a page.</summary>
internal static class CeilingPage
{
    public static Report Of(CeilingResult result) => new()
    {
        Title = "The whole path compared with a plain gRPC echo",
        Subtitle = result.Cases.Count == 0
            ? "Nothing was measured."
            : "Throughput of the whole path as a share of the echo's: " + string.Join(", ", result.Cases.Select(c => $"{Numbers.Whole(c.Share * 100)} % with {c.Shape}")) + ".",
        Facts =
        [
            .. Facts.Of(result.Run), StoreAudit.Fact(result.Audits),
            new Fact("Sides", $"{result.Proxies} proxies with the platform behind them, and {result.Proxies} gRPC servers that answer at once; the same clients and loads"),
            new Fact("Method", $"the sides alternate; {result.Rounds} rounds, after one that is dropped; figures are medians (minimum to maximum); p50 and p99 of a burst count from its start"),
        ],
        Sections =
        [
            new Section(
                "",
                new Table
                {
                    Columns =
                    [
                        new Column("Load", Align.Left), new Column("Side", Align.Left), new Column("Payments", Unit: "/s"), new Column("Time", Unit: "s"),
                        new Column("p50", Unit: "ms"), new Column("p99", Unit: "ms"), new Column("Share of the echo"), new Column("Failed"),
                    ],
                    Rows = [.. result.Cases.SelectMany(c => new[] { Row(c.Shape, "whole path", c.Full, Numbers.Whole(c.Share * 100) + " %"), Row(c.Shape, "echo", c.Echo, "100 %") })],
                    Note = "The whole path: proxy, Kafka, backend, PostgreSQL, Kafka, proxy.",
                },
                new BarChart(
                    "Payments per second", new Axis("Payments", "/s"), [.. result.Cases.Select(c => c.Shape)],
                    new Bars("whole path", [.. result.Cases.Select(c => c.Full.PerSecond)]), new Bars("echo", [.. result.Cases.Select(c => c.Echo.PerSecond)]))),
        ],
    };

    private static Row Row(string shape, string side, CeilingSide measured, string share) => new(
        shape, side, Numbers.Around(measured.PerSecond, 0), Numbers.Around(measured.DurationS, 2), Numbers.Around(measured.P50Ms, 1), Numbers.Around(measured.P99Ms, 1), share,
        Numbers.Whole(measured.Rounds.Sum(r => r.Failed)));
}
