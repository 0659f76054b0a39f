using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Cost;

/// <summary>What protection and observation cost, as a page.</summary>
internal static class CostPage
{
    private static readonly string[] ShownPrograms = ["proxy", "kafka", "payments", "balances", "postgres", "client"];

    public static Report Of(CostReport report) => new()
    {
        Title = "What protection and observation cost",
        Subtitle = string.Join(' ', report.Sides.Skip(1).Select(side => $"{side.Name}: {Share(report, side)} of the throughput without.")),
        Facts =
        [
            .. Facts.Of(report.Run), Books.Fact(report.Audits),
            new Fact("Method", $"{report.InFlight} payments under way in a closed loop; one stack for each side, all sides in turn, {report.Rounds} rounds count, one before them is dropped; medians, least to greatest"),
        ],
        Sections =
        [
            new Section(
                "",
                new Table
                {
                    Columns = [new Column("Platform", Align.Left), new Column("Payments", Unit: "/s"), new Column("p99", Unit: "ms"), new Column("of the throughput without")],
                    Rows = [.. report.Sides.Select(s => new Row(s.Name, Numbers.Around(s.PerSecond, 0), Numbers.Around(s.P99Ms, 0), Share(report, s)))],
                },
                new Table
                {
                    Columns = [new Column("Processor time of a payment", Align.Left), .. ShownPrograms.Select(p => new Column(p, Unit: "µs"))],
                    Rows = [.. report.Sides.Select(s => new Row([s.Name, .. ShownPrograms.Select(p => (Cell)Numbers.Whole(s.Microseconds(p)))]))],
                    Note = "client is the load tool, which has its own side of TLS.",
                },
                new BarChart("Payments per second", new Axis("Payments", "/s"), [.. report.Sides.Select(s => s.Name)], new Bars("payments", [.. report.Sides.Select(s => s.PerSecond)]))),
        ],
    };

    private static string Share(CostReport report, CostSide side) =>
        Numbers.Whole(100 * side.PerSecond.Median / report.Sides[0].PerSecond.Median) + " %";
}
