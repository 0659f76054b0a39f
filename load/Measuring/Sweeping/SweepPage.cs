using System.Globalization;
using Billing.Measuring.Driving;
using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Sweeping;

/// <summary>A sweep as a page.</summary>
internal static class SweepPage
{
    // Sources.IceLab, tests 28 and 12: PUT with 4 replicas of 4 workers, and with one worker.
    private const double PaperPerSecond = 56_000;
    private const int PaperCores = 16;
    private const double PaperOnOneCore = 7_500;

    public static Report Of(SweepResult result) => new()
    {
        Title = result.Mode == "dynamic" ? "Search for the highest throughput" : "Throughput of one configuration",
        Subtitle = Sentence(result),
        Facts = [.. Facts.Of(result.Run), StoreAudit.Fact(result.Audits), Sources.IceLab.Fact(), new Fact("Method", Method(result))],
        Sections = [new Section("", [Bests(result)]), .. result.Protocols.Where(p => p.Cells.Count > 0).Select(p => Section(p, result))],
    };

    private static string Sentence(SweepResult result) => result.Protocols.Where(p => p.BestPlace is not null).MaxBy(p => p.BestPlace!.PerSecond.Median) is { } best
        ? $"Most answers per second: {Numbers.Whole(best.BestPlace!.PerSecond.Median)} over {Name(best.Protocol)}, with {best.BestPlace.Connections} connections and {best.BestPlace.InFlight} requests in flight on each."
        : result.Protocols.Any(p => p.Cells.Count > 0) ? "Every configuration had failed requests." : "Nothing was measured.";

    private static string Method(SweepResult result) => "closed loop: latencies count from each call; a configuration with a failed request is never the best"
        + (result.Protocols.Any(p => p.Finals.Count > 0)
            ? "; the best configurations were measured again, alternating, after one round that is dropped, and that with the best median is reported; in brackets, minimum to maximum"
            : "; each configuration was measured once");

    private static Table Bests(SweepResult result) => new()
    {
        Title = "Best configurations",
        Columns =
        [
            new Column("Protocol", Align.Left), new Column("Connections"), new Column("In flight per connection"), new Column("Answers", Unit: "/s"),
            new Column("Per core", Unit: "/s"), new Column("p50", Unit: "ms"), new Column("p99", Unit: "ms"),
            new Column($"Best with p99 within {Numbers.Whole(result.LatencyBoundMs)} ms", Unit: "/s"), new Column("Connections x in flight", Align.Left), new Column("HIVE in the paper", Align.Left, IsPaper: true),
        ],
        Rows = [.. result.Protocols.Where(p => p.BestPlace is not null).Select(p => Row(p, result.Run.Machine.Cores))],
        Note = $"{Where(result)} HIVE's requests were PUTs to a REST server that answered before anything was stored.",
    };

    private static string Where(SweepResult result) => result.Audits.Count == 0
        ? "The proxies ran already: their event store was not audited, and per core refers to the cores of the load tool's machine."
        : "Everything ran on one machine: the load tool shares its cores with the platform."
            + (result.Requests == SweepResult.PaymentsAlone && StoreAudit.AreClean(result.Audits) ? " The audit found an event stored for every payment that was answered." : "");

    private static Row Row(ProtocolSweep protocol, int cores)
    {
        var best = protocol.BestPlace!;
        var bounded = protocol.BestPlaceWithinBound;
        return new Row(
            Name(protocol.Protocol), Text(best.Connections), Text(best.InFlight), Numbers.Around(best.PerSecond, 0), Numbers.Whole(best.PerSecond.Median / cores),
            Numbers.Around(best.P50Ms), Numbers.Around(best.P99Ms),
            bounded is null ? Numbers.None : Numbers.Around(bounded.PerSecond, 0),
            bounded is null ? Numbers.None : $"{bounded.Connections} x {bounded.InFlight}",
            protocol.Protocol == DriveProtocol.Rest
                ? $"{Numbers.Whole(PaperPerSecond)}/s on {PaperCores} cores, {Numbers.Whole(PaperPerSecond / PaperCores)}/s for each; {Numbers.Whole(PaperOnOneCore)}/s on one core"
                : Numbers.None);
    }

    private static Section Section(ProtocolSweep protocol, SweepResult result)
    {
        var cells = new Table
        {
            Columns =
            [
                new Column("Connections"), new Column("In flight per connection"), new Column("Answers", Unit: "/s"), new Column("p50", Unit: "ms"),
                new Column("p99", Unit: "ms"), new Column("Max", Unit: "ms"), new Column("Failed"), new Column("CPU per 1,000 answers", Unit: "ms"),
            ],
            Rows = [.. protocol.Cells.Select(c => CellRow(c, c.Connections == protocol.BestPlace?.Connections && c.InFlight == protocol.BestPlace.InFlight))],
        };
        return new Section(
            Name(protocol.Protocol),
            result.Mode == "dynamic"
                ? [Map(protocol, c => c.PerSecond, "Answers per second", "/s", false), Map(protocol, c => c.Latency.P99Ms, "99th percentile", "ms", true), cells, Finals(protocol)]
                : [cells]);
    }

    private static Table Finals(ProtocolSweep protocol) => new()
    {
        Title = "Measured again, alternating",
        Columns =
        [
            new Column("Connections"), new Column("In flight per connection"), new Column("Answers", Unit: "/s"), new Column("p50", Unit: "ms"),
            new Column("p99", Unit: "ms"), new Column("Failed"),
        ],
        Rows = [.. protocol.Finals.Select(f => new Row(
            Text(f.Connections), Text(f.InFlight), Numbers.Around(f.PerSecond, 0), Numbers.Around(f.P50Ms), Numbers.Around(f.P99Ms),
            Numbers.Whole(f.Rounds.Sum(r => r.Errors.Values.Sum())))
        {
            IsHighlighted = f == protocol.BestPlace,
        })],
    };

    private static Row CellRow(SweepMeasurement cell, bool best) => new(
        Text(cell.Connections), Text(cell.InFlight), Numbers.Whole(cell.PerSecond), Numbers.Significant(cell.Latency.P50Ms),
        Numbers.Significant(cell.Latency.P99Ms), Numbers.Significant(cell.Latency.MaxMs), Numbers.Whole(cell.Errors.Values.Sum()),
        cell.Answers == 0 ? Numbers.None : Numbers.Whole(cell.CpuS.Values.Sum() * 1e6 / cell.Answers))
    {
        IsHighlighted = best,
    };

    private static HeatMap Map(ProtocolSweep protocol, Func<SweepMeasurement, double> value, string title, string unit, bool leastIsBest)
    {
        var columns = protocol.Cells.Select(c => c.InFlight).Distinct().Order().ToList();
        var rows = protocol.Cells.Select(c => c.Connections).Distinct().Order().ToList();
        return new HeatMap(
            $"{title}, {Name(protocol.Protocol)}", "requests in flight per connection", [.. columns.Select(Text)], "connections", [.. rows.Select(Text)],
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
