using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Cost;

/// <summary>What protection and observation cost, as a page.</summary>
internal static class CostPage
{
    private static readonly string[] ShownPrograms = ["proxy", "kafka", "payments", "balances", "postgres", "client"];

    public static Report Of(CostResult result) => new()
    {
        Title = "What protection and observation cost",
        Subtitle = string.Join(' ', result.Sides.Skip(1).Select(side => $"{side.Name}: {Share(result, side)} of the throughput without.")),
        Facts =
        [
            .. Facts.Of(result.Run), Books.Fact(result.Audits),
            new Fact("Method", $"{result.InFlight} payments under way in a closed loop; one stack for each side, all sides in turn, {result.Rounds} rounds count, one before them is dropped; medians, least to greatest"),
        ],
        Sections =
        [
            new Section(
                "",
                new Table
                {
                    Columns = [new Column("Platform", Align.Left), new Column("Payments", Unit: "/s"), new Column("p99", Unit: "ms"), new Column("of the throughput without")],
                    Rows = [.. result.Sides.Select(s => new Row(s.Name, Numbers.Around(s.PerSecond, 0), Numbers.Around(s.P99Ms, 0), Share(result, s)))],
                },
                new Table
                {
                    Columns = [new Column("Processor time of a payment", Align.Left), .. ShownPrograms.Select(p => new Column(p, Unit: "µs"))],
                    Rows = [.. result.Sides.Select(s => new Row([s.Name, .. ShownPrograms.Select(p => (Cell)Numbers.Whole(s.Microseconds(p)))]))],
                    Note = "client is the load tool, which has its own side of TLS.",
                },
                new BarChart("Payments per second", new Axis("Payments", "/s"), [.. result.Sides.Select(s => s.Name)], new Bars("payments", [.. result.Sides.Select(s => s.PerSecond)]))),
        ],
    };

    private static string Share(CostResult result, CostSide side) =>
        Numbers.Whole(100 * side.PerSecond.Median / result.Sides[0].PerSecond.Median) + " %";
}
