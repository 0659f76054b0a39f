using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Cost;

/// <summary>The cost of security and telemetry as a page.</summary>
internal static class CostPage
{
    private static readonly string[] ShownPrograms = ["proxy", "kafka", "payments", "balances", "postgres", "client"];

    public static Report Of(CostResult result) => new()
    {
        Title = "The cost of security and telemetry",
        Subtitle = string.Join(' ', result.Sides.Skip(1).Select(side => $"{side.Name}: {Share(result, side)} of the throughput without them.")),
        Facts =
        [
            .. Facts.Of(result.Run), StoreAudit.Fact(result.Audits),
            new Fact("Method", $"{result.InFlight} payments in flight in a closed loop; one stack for each side; the sides alternate; {result.Rounds} rounds, after one that is dropped; figures are medians (minimum to maximum)"),
        ],
        Sections =
        [
            new Section(
                "",
                new Table
                {
                    Columns = [new Column("Platform", Align.Left), new Column("Payments", Unit: "/s"), new Column("p99", Unit: "ms"), new Column("Share of the throughput without them")],
                    Rows = [.. result.Sides.Select(s => new Row(s.Name, Numbers.Around(s.PerSecond, 0), Numbers.Around(s.P99Ms, 0), Share(result, s)))],
                },
                new Table
                {
                    Columns = [new Column("Processor time per payment", Align.Left), .. ShownPrograms.Select(p => new Column(p, Unit: "µs"))],
                    Rows = [.. result.Sides.Select(s => new Row([s.Name, .. ShownPrograms.Select(p => (Cell)Numbers.Whole(s.Microseconds(p)))]))],
                    Note = "client is the load tool; its figure includes its share of TLS.",
                },
                new BarChart("Payments per second", new Axis("Payments", "/s"), [.. result.Sides.Select(s => s.Name)], new Bars("payments", [.. result.Sides.Select(s => s.PerSecond)]))),
        ],
    };

    private static string Share(CostResult result, CostSide side) =>
        Numbers.Whole(100 * side.PerSecond.Median / result.Sides[0].PerSecond.Median) + " %";
}
