using System.Globalization;
using Billing.Measuring.Driving;
using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Sweeping;

/// <summary>A sweep as a page.</summary>
internal static class SweepPage
{
    // ICE lab, Table I and section IX: 16 cores, PUT.
    private const double PaperPerSecond = 56_000;
    private const double PaperPerCore = 7_500;

    public static Report Of(SweepReport report) => new()
    {
        Title = report.Mode == "dynamic" ? "Where more load brings nothing" : "One load, measured",
        Subtitle = Sentence(report),
        Facts = [.. Facts.Of(report.Run), Books.Fact(report.Audits)],
        Sections = [new Section("", [Bests(report)]), .. report.Protocols.Where(p => p.Cells.Count > 0).Select(p => Section(p, report))],
    };

    private static string Sentence(SweepReport report) => report.Protocols.Where(p => p.Best is not null).MaxBy(p => p.Best!.PerSecond) is { } best
        ? $"Most answers a second: {Numbers.Whole(best.Best!.PerSecond)} over {Name(best.Protocol)}, with {best.Best.Connections} connections and {best.Best.InFlight} requests in flight on each."
        : "Nothing was measured.";

    private static Table Bests(SweepReport report) => new()
    {
        Title = "Best places",
        Columns =
        [
            new Column("Protocol", Align.Left), new Column("Connections"), new Column("In flight on each"), new Column("Answers", Unit: "/s"),
            new Column("Per core", Unit: "/s"), new Column("p50", Unit: "ms"), new Column("p99", Unit: "ms"),
            new Column($"Best with p99 within {Numbers.Whole(report.LatencyBoundMs)} ms", Unit: "/s"), new Column("there with", Align.Left), new Column("HIVE in the paper", Align.Left, IsPaper: true),
        ],
        Rows = [.. report.Protocols.Where(p => p.Best is not null).Select(p => Row(p, report.Run.Machine.Cores))],
        Note = "All on one machine: the load tool shares its cores with everything it loads. Each answer is a payment stored for good; the paper's REST server answered before anything was stored.",
    };

    private static Row Row(ProtocolSweep protocol, int cores)
    {
        var best = protocol.Best!;
        var bounded = protocol.BestWithinBound;
        return new Row(
            Name(protocol.Protocol), Text(best.Connections), Text(best.InFlight), Numbers.Whole(best.PerSecond), Numbers.Whole(best.PerSecond / cores),
            Numbers.Significant(best.Latency.P50Ms), Numbers.Significant(best.Latency.P99Ms),
            bounded is null ? Numbers.None : Numbers.Whole(bounded.PerSecond),
            bounded is null ? Numbers.None : $"{bounded.Connections} x {bounded.InFlight}",
            protocol.Protocol == DriveProtocol.Rest ? $"{Numbers.Whole(PaperPerSecond)}/s on 16 cores, {Numbers.Whole(PaperPerCore)}/s a core" : Numbers.None);
    }

    private static Section Section(ProtocolSweep protocol, SweepReport report)
    {
        var cells = new Table
        {
            Columns =
            [
                new Column("Connections"), new Column("In flight on each"), new Column("Answers", Unit: "/s"), new Column("p50", Unit: "ms"),
                new Column("p99", Unit: "ms"), new Column("Max", Unit: "ms"), new Column("Failed"), new Column("CPU for 1,000 answers", Unit: "ms"),
            ],
            Rows = [.. protocol.Cells.Select(c => CellRow(c, c == protocol.Best))],
        };
        return new Section(Name(protocol.Protocol), report.Mode == "dynamic" ? [Map(protocol, c => c.PerSecond, "Answers a second", "/s", false), Map(protocol, c => c.Latency.P99Ms, "99th percentile", "ms", true), cells] : [cells]);
    }

    private static Row CellRow(SweepCell cell, bool best) => new(
        Text(cell.Connections), Text(cell.InFlight), Numbers.Whole(cell.PerSecond), Numbers.Significant(cell.Latency.P50Ms),
        Numbers.Significant(cell.Latency.P99Ms), Numbers.Significant(cell.Latency.MaxMs), Numbers.Whole(cell.Errors.Values.Sum()),
        cell.Answers == 0 ? Numbers.None : Numbers.Whole(cell.CpuS.Values.Sum() * 1e6 / cell.Answers))
    {
        IsHighlighted = best,
    };

    private static HeatMap Map(ProtocolSweep protocol, Func<SweepCell, double> value, string title, string unit, bool leastIsBest)
    {
        var columns = protocol.Cells.Select(c => c.InFlight).Distinct().Order().ToList();
        var rows = protocol.Cells.Select(c => c.Connections).Distinct().Order().ToList();
        return new HeatMap(
            $"{title}, {Name(protocol.Protocol)}", "requests in flight on each", [.. columns.Select(Text)], "connections", [.. rows.Select(Text)],
            new Axis(title, unit),
            [.. rows.Select(row => columns.Select(column =>
                protocol.Cells.FirstOrDefault(c => c.Connections == row && c.InFlight == column) is { } cell ? value(cell) : (double?)null).ToList())])
        {
            LeastIsBest = leastIsBest,
        };
    }

    private static string Name(DriveProtocol protocol) => protocol switch
    {
        DriveProtocol.Unary => "gRPC calls",
        DriveProtocol.Stream => "gRPC bulk streams",
        _ => "REST, pipelined",
    };

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
