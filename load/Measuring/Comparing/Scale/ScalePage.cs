using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Scale;

/// <summary>The effect of more backends as a page.</summary>
internal static class ScalePage
{
    // Sources.Thesis, tables 6.2 and 6.3.
    private const double PaperReadsOfANode = 175;
    private const string PaperReads = "175/s on one node, linear to 12 nodes: 2,100/s; p99 134 to 145 ms";
    private const string PaperWrites = "4,073/s on 1 node, 4,709 on 4, 4,528 on 8; p99 474 ms on 1 node, 139 ms on 8";

    private static readonly string[] ModelPrograms = ["proxy", "kafka", "payments", "balances", "postgres"];

    public static Report Of(ScaleResult result) => new()
    {
        Title = "Throughput and latency by number of backends",
        Subtitle = Sentence(result),
        Facts =
        [
            .. Facts.Of(result.Run), StoreAudit.Fact(result.Audits), Sources.Thesis.Fact(),
            new Fact("Method", $"closed loop with {result.Work.InFlight} requests in flight for every number of backends; {result.Rounds} rounds, after one that is dropped; the numbers of backends alternately ascend and descend; figures are medians (minimum to maximum)"),
        ],
        Sections =
        [
            new Section("Simulated work", new Prose(
                $"All processes share the {result.Run.Machine.Cores} cores of one machine, so more backends do not add processor capacity. What grows with their number is simulated work. Each payment backend has at most {result.Work.PaymentsAtATime} payments at the card network at a time, {result.Work.PaymentMs} ms each on average, and thus handles at most {Numbers.Whole(result.Work.PaymentCeiling)}/s. Each balance replica has {result.Work.BalancesAtATime} checks of {result.Work.BalanceMs} ms and handles at most {Numbers.Whole(result.Work.BalanceCeiling)}/s, where one node of the thesis answered {Numbers.Whole(PaperReadsOfANode)}/s with real work. The model below shows what the processor would allow on more machines.")),
            .. result.Series.Select(series => Section(series, result.Work)),
            .. result.Costs.Count > 0 ? [Model(result)] : Array.Empty<Section>(),
        ],
    };

    private static string Sentence(ScaleResult result) => string.Join(' ', result.Series
        .Select(s => (s.Kind, Steps: s.Steps.Where(t => t.Rounds.Count > 0).ToList()))
        .Where(s => s.Steps.Count > 1 && s.Steps[0].PerSecond.Median > 0)
        .Select(s => $"{s.Kind}: {s.Steps[^1].Backends / (double)s.Steps[0].Backends:0.#} times the backends handle {Numbers.Fixed(s.Steps[^1].PerSecond.Median / s.Steps[0].PerSecond.Median, 1)} times as much simulated work on the same cores."));

    private static Section Section(ScaleSeries series, ScaleWork work)
    {
        var writes = series.Kind == ScaleKind.Writes;
        var ceiling = writes ? work.PaymentCeiling : work.BalanceCeiling;
        var steps = series.Steps.Where(s => s.Rounds.Count > 0).ToList();
        var name = writes ? "Payments" : "Balance checks";
        return new Section(
            writes ? "Writes by number of payment backends" : "Reads by number of balance replicas",
            new Table
            {
                Columns =
                [
                    new Column(writes ? "Backends" : "Replicas"), new Column(name, Unit: "/s"), new Column("Share of the simulated work's limit"),
                    new Column("p50", Unit: "ms"), new Column("p99", Unit: "ms"), new Column("Failed"), new Column("Thesis", Align.Left, IsPaper: true),
                ],
                Rows = [.. steps.Select(s => new Row(
                    Numbers.Whole(s.Backends), Numbers.Around(s.PerSecond, 0), Numbers.Whole(100 * s.PerSecond.Median / (ceiling * s.Backends)) + " %",
                    Numbers.Around(s.P50Ms, 0), Numbers.Around(s.P99Ms, 0), Numbers.Whole(s.Rounds.Sum(r => r.Failed)),
                    writes ? Numbers.None : $"{Numbers.Whole(PaperReadsOfANode * s.Backends)}/s"))],
                Note = "The thesis: " + (writes ? PaperWrites : PaperReads),
            },
            new LineChart(
                $"{name} per second", new Axis(writes ? "Payment backends" : "Balance replicas"), new Axis(name, "/s"),
                new Series("measured", [.. steps.Select(s => ((double)s.Backends, s.PerSecond.Median))]),
                new Series("limit of the simulated work", [.. steps.Select(s => ((double)s.Backends, ceiling * s.Backends))])),
            new LineChart(
                $"99th percentile, {(writes ? "writes" : "reads")}", new Axis(writes ? "Payment backends" : "Balance replicas"), new Axis("p99", "ms"),
                new Series("measured", [.. steps.Select(s => ((double)s.Backends, s.P99Ms.Median))])));
    }

    private static Section Model(ScaleResult result) => new(
        "Model: throughput on several machines",
        new Prose(
            $"Without jitter and with one process of each program, a request costs the processor time below: {Samples(result)}. A stage with n cores serves at most n divided by its cost; the slowest stage limits the whole system. There can be as many proxies and backends as partitions; PostgreSQL has one machine, so its cores limit the writes. The model leaves out network, disks and the brokers' replication."),
        new Table
        {
            Columns = [new Column("Requests", Align.Left), .. ModelPrograms.Select(p => new Column(p, Unit: "µs")), new Column("load tool", Unit: "µs"), new Column("Whole system on n 2-core machines, ideally distributed", Unit: "/s per machine"), new Column("Limit of 8 cores for PostgreSQL alone", Unit: "/s")],
            Rows = [.. result.Costs.Select(CostRow)],
            Note = "Processor microseconds per request, measured at " + string.Join(" and ", result.Costs.Select(c => $"{Numbers.Whole(c.PerSecond)} {c.Kind.ToString().ToLowerInvariant()}/s")) + "."
                + string.Concat(result.Costs.Where(c => c.Samples.Count > 1).Select(c => $" {c.Kind} cost the whole system {Numbers.Around(SystemCost(c), 0)} µs.")),
        },
        new StackedBars(
            "Processor time per request", new Axis("Time", "µs"), ModelPrograms,
            [.. result.Costs.Select(c => new Stack(c.Kind.ToString(), [.. ModelPrograms.Select(p => Cost(c, p))]))]));

    private static string Samples(ScaleResult result) => result.Costs.Max(c => c.Samples.Count) switch
    {
        > 1 and var samples => $"medians of {samples} samples, after one that is dropped",
        _ => "one sample, from which others may differ",
    };

    private static Spread SystemCost(StageCosts costs) =>
        Spread.Of(costs.Samples.Select(s => ModelPrograms.Sum(p => s.MicrosecondsByProgram.GetValueOrDefault(p))));

    private static Row CostRow(StageCosts costs)
    {
        var system = ModelPrograms.Sum(p => Cost(costs, p));
        var store = Cost(costs, "postgres");
        return new Row(
        [
            costs.Kind == ScaleKind.Writes ? "Payments" : "Balance checks", .. ModelPrograms.Select(p => (Cell)Numbers.Whole(Cost(costs, p))),
            Numbers.Whole(Cost(costs, "client")), system > 0 ? Numbers.Whole(2e6 / system) : Numbers.None,
            costs.Kind == ScaleKind.Writes && store > 0 ? Numbers.Whole(8e6 / store) : Numbers.None,
        ]);
    }

    private static double Cost(StageCosts costs, string program) => costs.MicrosecondsByProgram.GetValueOrDefault(program);
}
