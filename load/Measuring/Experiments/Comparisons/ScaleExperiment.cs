using System.Globalization;
using Billing.Driver;
using Billing.LocalStack;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Experiments.Comparisons;

/// <summary>Throughput and latency by the number of backends and replicas, under open load as in the thesis; and what a
/// request costs each program at several throughputs, with what that means for more machines.</summary>
internal static class ScaleExperiment
{
    private const string Reads = "Reads by number of balance replicas";
    private const string Writes = "Writes by number of payment backends";
    private const string Costs = "Cost of a request, and the model of more machines";
    private const string Databases = "Payments by number of databases";
    private const string Platform = "platform";
    private const string MeasuredPhase = "measured";
    private const int Connections = 4;

    // The thesis: 175 reads a second for each node, at 75 % of its processor; 4,073 writes a second on one
    // node, at its limit.
    private const int ReadsOfANodePerS = 175;
    private const int ReadMs = 34;
    private const int ReadsAtATime = 8;
    private const int WriteMs = 100;

    // Enough for a lane of each database to fill its batches.
    private const int DatabasesCallers = 400;

    private static readonly int[] CostCallers = [4, 50, 400];
    private static readonly string[] Stages = ["proxy", "kafka", "payments", "balances", "postgres"];
    private static readonly Figure PerMachine = new(
        "model_per_machine", "Whole system on n 2-core machines", "/s per machine", 0);
    private static readonly Figure PostgresLimit = new(
        "model_postgres_limit", "Limit of 8 cores for each PostgreSQL alone", "/s", 0);

    /// <summary>The options of the experiment.</summary>
    /// <param name="Backends">Numbers of payment backends, ascending.</param>
    /// <param name="Replicas">Numbers of balance replicas, ascending.</param>
    /// <param name="Databases">Numbers of databases, ascending.</param>
    /// <param name="Rounds">Number of measured rounds.</param>
    /// <param name="During">Duration of each measurement.</param>
    /// <param name="WriteRate">Payments per second for every number of backends.</param>
    /// <param name="IsAsInThesis">Whether the load rises for five minutes, stays for ten, and only the last
    /// five are measured.</param>
    public sealed record Options(
        IReadOnlyList<int> Backends, IReadOnlyList<int> Replicas, IReadOnlyList<int> Databases, int Rounds,
        TimeSpan During, int WriteRate, bool IsAsInThesis);

    public static Experiment Plan(Options options, IAnsiConsole console) => new()
    {
        Kind = "compare-scale",
        Title = "Throughput and latency by number of backends",
        Paper = Sources.Thesis,
        Facts =
        [
            new Fact("Load", options.IsAsInThesis
                ? "open, as in the thesis: it rises for 300 s from 1/s, stays for 600 s, and the last "
                    + "300 s are measured"
                : $"open: it rises for 5 s, stays, and {options.During.TotalSeconds:0} s are measured; "
                    + "--thesis repeats the thesis's 300 s, 600 s and 300 s"),
            new Fact(
                "Simulated work",
                "all processes share one machine, so more backends do not add processors; what grows with their "
                    + $"number is simulated work: each replica answers {ReadsAtATime} checks of {ReadMs} ms at a time, "
                    + $"that is {ReadsAtATime * 1000 / ReadMs}/s, and is loaded with {ReadsOfANodePerS}/s, 75 % of "
                    + $"that, as a node of the thesis was; each payment backend has {WritesAtATime(options)} payments "
                    + $"of {WriteMs} ms at a time and can do "
                    + $"{Numbers.Whole(WritesAtATime(options) * 1000.0 / WriteMs)}/s"),
            new Fact(
                "Model",
                "a stage with n cores serves at most n divided by its cost, and the slowest limits the whole; "
                    + "the cost falls with the load, so that each row has a model of its own; "
                    + "network, disks and the brokers' replication are left out"),
        ],
        Sections =
        [
            new SectionPlan(
                Reads, "Replicas", Figure.Offered, Figure.PerSecond, Figure.P75Ms,
                Figure.P95Ms, Figure.P99Ms, Figure.Failed)
            {
                Chart = ChartKind.Lines, Charted = Figure.P99Ms, Note = "published: Table 6.2, linear to 12 nodes.",
            },
            new SectionPlan(
                Writes, "Backends", Figure.Offered, Figure.PerSecond, Figure.P75Ms,
                Figure.P95Ms, Figure.P99Ms, Figure.Failed)
            {
                Chart = ChartKind.Lines, Charted = Figure.P99Ms,
                Note = "published: Table 6.3, lower load: the same users for every number of nodes.",
            },
            new SectionPlan(
                Costs, "Load",
                [Figure.PerSecond, .. Stages.Select(Figure.CpuOf), Figure.CpuUs, PerMachine, PostgresLimit])
            {
                Charted = Figure.CpuUs,
            },
            new SectionPlan(
                Databases, "Databases", [Figure.PerSecond, .. Stages.Select(Figure.CpuOf), Figure.CpuUs, PostgresLimit])
            {
                Chart = ChartKind.Lines, Charted = Figure.CpuOf("postgres"),
            },
        ],
        Parts =
        [
            CostsPart(options, console), .. options.Databases.Select(count => DatabasesPart(options, count, console)),
            StepsPart(options, isReads: true, console), StepsPart(options, isReads: false, console),
        ],
    };

    private static Part CostsPart(Options options, IAnsiConsole console) => new(
        [StackSide.Plan(Platform, new StackOptions { Proxies = 1, PaymentBackends = 1, BalanceBackends = 1 }, console)],
        [
            .. from reads in (bool[])[false, true]
               from callers in CostCallers
               select new Case(
                   Costs, $"{(reads ? "balance checks" : "payments")}, {callers} in flight",
                   async (side, cancellationToken) =>
                       Modelled(Measured.Of(await side.LoadAsync(
                           Spec(
                               new LoadShape.Closed(callers, options.During.TotalSeconds),
                               reads) with { WarmUp = new LoadShape.Closed(callers, 2) }, 1, cancellationToken)))),
        ],
        options.Rounds);

    // The accounts are spread evenly over the databases, each of which has a server of its own.
    private static Part DatabasesPart(Options options, int count, IAnsiConsole console) => new(
        [
            StackSide.Plan(
                Platform, new StackOptions { Proxies = 1, PaymentBackends = 1, BalanceBackends = 1, Databases = count },
                console),
        ],
        [
            new Case(
                Databases, count.ToString(CultureInfo.InvariantCulture), async (side, cancellationToken) => Modelled(
                    Measured.Of(await side.LoadAsync(
                        Spec(
                            new LoadShape.Closed(DatabasesCallers, options.During.TotalSeconds),
                            isReads: false) with { WarmUp = new LoadShape.Closed(DatabasesCallers, 2) },
                        1, cancellationToken)),
                    count)) with
            {
                Position = count,
            },
        ],
        options.Rounds);

    private static Measured Modelled(Measured measured, int databases = 1)
    {
        var figures = new Dictionary<string, double>(measured.Figures);
        figures[PerMachine.Id] = 2e6 / figures[Figure.CpuUs.Id];
        if (figures.GetValueOrDefault(Figure.CpuOf("postgres").Id) is > 1 and var postgres)
        {
            figures[PostgresLimit.Id] = databases * 8e6 / postgres;
        }
        return measured with { Figures = figures };
    }

    private static Part StepsPart(Options options, bool isReads, IAnsiConsole console)
    {
        var (section, steps) = isReads ? (Reads, options.Replicas) : (Writes, options.Backends);
        return new Part(
            [StackSide.Plan(Platform, Stack(options, isReads), console)],
            [
                .. steps.Select(step =>
                    new Case(section, step.ToString(CultureInfo.InvariantCulture), async (side, cancellationToken) =>
                    {
                        await ResizeAsync(
                            ((StackSide)side).Stack, isReads ? ServiceRole.BalanceBackend : ServiceRole.PaymentBackend,
                            step, cancellationToken);
                        var rate = isReads ? ReadsOfANodePerS * step : options.WriteRate;
                        var phases = Phases(options, rate);
                        var load = await side.LoadAsync(
                            Spec(new LoadShape.Open(phases), isReads), 1, cancellationToken);
                        return Measured.Of(load.Phases[^1], phases[^1].DurationS, rate);
                    }) with
                    {
                        Position = step,
                        Published = isReads ? ReadsPublished(step) : WritesPublished(step),
                    }),
            ],
            options.Rounds);
    }

    private static Phase[] Phases(Options options, double rate) => options.IsAsInThesis
        ? [new("ramp", 300, 1, rate), new("hold", 300, rate, rate), new(MeasuredPhase, 300, rate, rate)]
        : [new("ramp", 5, 1, rate), new(
            "hold", 2, rate, rate), new(MeasuredPhase, options.During.TotalSeconds, rate, rate)];

    private static async Task ResizeAsync(
        BillingStack stack, ServiceRole role, int wanted, CancellationToken cancellationToken)
    {
        foreach (var surplus in stack.Of(role).Where(s => s.Number > wanted).ToList())
        {
            await stack.RemoveAsync(surplus);
        }
        await Task.WhenAll(Enumerable.Range(1, wanted).Except(stack.Of(role).Select(s => s.Number))
            .Select(number => stack.AddAsync(role, number, cancellationToken)));
    }

    // One backend can do 5 % more than what is offered.
    private static int WritesAtATime(Options options) => (int)Math.Ceiling(options.WriteRate * 1.05 * WriteMs / 1000);

    private static StackOptions Stack(Options options, bool isReads) => new()
    {
        Proxies = 1,
        PaymentBackends = 1,
        BalanceBackends = 1,
        // Every backend needs a partition of its own in each of the four topics' groups.
        Partitions = (int)Math.Ceiling(Math.Max(options.Backends[^1], options.Replicas[^1]) / 4.0),
        Jitter = true,
        Settings = SlowCardNetwork.Settings(isReads ? ReadsAtATime : WritesAtATime(options), WriteMs, ReadMs),
    };

    private static LoadSpec Spec(LoadShape shape, bool isReads) => new()
    {
        Addresses = [],
        Protocol = LoadProtocol.Unary,
        Connections = Connections,
        Shape = shape,
        BalancePercent = isReads ? 100 : 0,
    };

    // Sources.Thesis, Table 6.2.
    private static Dictionary<string, IReadOnlyDictionary<string, double>> ReadsPublished(int nodes) => nodes switch
    {
        1 => Row(175, 52, 91, 145),
        2 => Row(350, 51, 89, 139),
        4 => Row(700, 51, 86, 137),
        8 => Row(1400, 50, 84, 134),
        12 => Row(2100, 51, 91, 145),
        _ => [],
    };

    // Sources.Thesis, Table 6.3, lower load.
    private static Dictionary<string, IReadOnlyDictionary<string, double>> WritesPublished(int nodes) => nodes switch
    {
        1 => Row(4073, 157, 336, 474),
        2 => Row(4444, 68, 282, 416),
        4 => Row(4709, 15, 158, 281),
        8 => Row(4528, 10, 26.2, 139),
        _ => [],
    };

    private static Dictionary<string, IReadOnlyDictionary<string, double>> Row(
        double perS, double p75, double p95, double p99) => new()
        {
            [Platform] = new Dictionary<string, double>
            {
                [Figure.PerSecond.Id] = perS,
                [Figure.P75Ms.Id] = p75,
                [Figure.P95Ms.Id] = p95,
                [Figure.P99Ms.Id] = p99,
            },
        };
}
