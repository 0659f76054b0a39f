using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Eda;

/// <summary>The comparison of the event-driven and the API-driven architecture as a page.</summary>
internal static class EdaPage
{
    public static Report Of(EdaResult result) => new()
    {
        Title = "Event-driven compared with API-driven",
        Subtitle = Sentence(result),
        Facts =
        [
            .. Facts.Of(result.Run), StoreAudit.Fact(result.Audits), Sources.EventDriven.Fact(),
            new Fact("Sides", Sides(result)),
            new Fact("Method", $"open loop: latency counts from the moment that a request was due; {result.Rounds} rounds of the ramps (at most 3 of the others), after one that is dropped; figures are medians (minimum to maximum)"),
        ],
        Sections =
        [
            Ramps(result),
            .. result.Cases.Where(c => c.Phase != EdaPhase.Ramped).Select(Case),
            new Section("Figures of the study", Paper()),
        ],
    };

    private static string Sides(EdaResult result) =>
        $"each with {result.Proxies} proxies and its own PostgreSQL; one through Kafka, with {Numbers.Counted(result.Backends, "payment backend")} and {Numbers.Counted(result.KafkaBalanceBackends, "balance backend")}, the other by direct calls over {result.Protocol}, with {Numbers.Counted(result.Backends, "backend")} that do both; all requests are payments; both sides run all the time and are loaded alternately, and each one's processor time includes that of its idle programs; clients do not retry";

    private static string Sentence(EdaResult result)
    {
        var ramps = result.Cases.Where(c => c.Phase == EdaPhase.Ramped).ToList();
        if (ramps.Count == 0)
        {
            return "Nothing was measured.";
        }
        var (kafka, direct) = (ramps.Average(c => c.Kafka.MeanMs.Median), ramps.Average(c => c.Direct.MeanMs.Median));
        var killed = result.Cases.FirstOrDefault(c => c.Phase == EdaPhase.BackendKilled);
        var ordinary = $"In the ramps, the mean response time is {Numbers.Significant(direct)} ms by direct calls and {Numbers.Significant(kafka)} ms through Kafka.";
        return killed is null
            ? ordinary
            : $"{ordinary} With one backend killed, {Numbers.Significant(killed.Direct.ErrorPercent.Median)} % of the direct calls fail, and {Numbers.Significant(killed.Kafka.ErrorPercent.Median)} % of those through Kafka.";
    }

    private static Section Ramps(EdaResult result)
    {
        var ramps = result.Cases.Where(c => c.Phase == EdaPhase.Ramped).ToList();
        return new Section(
            "Requests spread over one second",
            Compared("Requests", ramps),
            new BarChart(
                "Mean response time", new Axis("Time", "ms"), [.. ramps.Select(c => $"{Numbers.Whole(c.Load)} requests")],
                new Bars("Kafka", [.. ramps.Select(c => c.Kafka.MeanMs)]), new Bars("direct", [.. ramps.Select(c => c.Direct.MeanMs)])),
            Cpu(ramps));
    }

    private static Section Case(EdaCase measured) => new(
        measured.Phase switch
        {
            EdaPhase.Long => "Long run",
            EdaPhase.Overload => "Overload",
            _ => $"One backend killed after {EdaResult.KillAfter.TotalSeconds:0} of {EdaResult.KillRun.TotalSeconds:0} seconds",
        },
        Compared("Requests per second", [measured]), Cpu([measured]),
        new Prose(Failures(measured) + (measured.Phase == EdaPhase.BackendKilled ? " The processor time of the killed backends is not known and not included in these figures." : "")));

    private static string Failures(EdaCase measured) =>
        $"Failed requests through Kafka: {Counted(measured.Kafka)}. Failed direct calls: {Counted(measured.Direct)}.";

    private static string Counted(EdaSide side)
    {
        var errors = side.Rounds.SelectMany(r => r.Errors).GroupBy(e => e.Key, e => e.Value).ToList();
        return errors.Count == 0 ? "none" : string.Join(", ", errors.Select(e => $"{Numbers.Whole(e.Sum())} x {e.Key}"));
    }

    private static Table Compared(string load, List<EdaCase> cases) => new()
    {
        Columns =
        [
            new Column(load), new Column("Side", Align.Left), new Column("Answered", Unit: "/s"), new Column("Mean", Unit: "ms"), new Column("p99", Unit: "ms"),
            new Column("Max", Unit: "ms"), new Column("Failed", Unit: "%"), new Column("CPU per 1,000 requests", Unit: "ms"),
        ],
        Rows = [.. cases.SelectMany(c => new[] { Row(c.Load, "Kafka", c.Kafka), Row(c.Load, "direct", c.Direct) })],
    };

    private static Row Row(int load, string name, EdaSide side) => new(
        Numbers.Whole(load), name, Numbers.Whole(side.PerSecond.Median), Numbers.Around(side.MeanMs), Numbers.Around(side.P99Ms), Numbers.Around(side.MaxMs),
        Numbers.Around(side.ErrorPercent), Numbers.Around(side.CpuMsPerThousand));

    private static Table Cpu(List<EdaCase> cases)
    {
        var programs = cases.SelectMany(c => c.Kafka.Rounds.Concat(c.Direct.Rounds)).SelectMany(r => r.CpuS.Keys).Distinct().Order(StringComparer.Ordinal).ToList();
        return new Table
        {
            Title = "Processor milliseconds per 1,000 requests, by program",
            Columns = [new Column("Load"), new Column("Side", Align.Left), .. programs.Select(p => new Column(p))],
            Rows = [.. cases.SelectMany(c => new[] { CpuRow(c.Load, "Kafka", c.Kafka, programs), CpuRow(c.Load, "direct", c.Direct, programs) })],
            Note = "client is the load tool, which is counted for neither side.",
        };
    }

    private static Row CpuRow(int load, string name, EdaSide side, List<string> programs) => new(
    [
        Numbers.Whole(load), name, .. programs.Select(p => (Cell)(side.Rounds.Any(r => r.CpuS.ContainsKey(p))
            ? Numbers.Significant(Spread.Of(side.Rounds.Where(r => r.Sent > 0).Select(r => r.CpuS.GetValueOrDefault(p) * 1e6 / r.Sent)).Median)
            : Numbers.None)),
    ]);

    private static Table Paper() => new()
    {
        Columns = [new Column("", Align.Left), new Column("Event-driven", IsPaper: true), new Column("API-driven", IsPaper: true), new Column("Difference", IsPaper: true)],
        Rows =
        [
            new Row("Response time, ms", "3,703", "4,413", "19.18 % better"),
            new Row("Errors, %", "6.37", "8.56", "34.40 % better"),
            new Row("CPU, ms", "2,273", "2,079", "8.52 % worse"),
        ],
        Note = $"{Sources.EventDriven.Citation} The services of a fabric store, over NATS Streaming and over HTTP calls; 100 to 500 requests, spread over 200 to 16,000 seconds for response times.",
    };
}
