using System.Globalization;
using Billing.Driver;
using Billing.LocalStack;
using Billing.Measuring.Loads;
using Billing.Measuring.Processes;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Experiments.Comparisons;

/// <summary>The same services reached through Kafka and by direct calls. Both stacks run at the same time and are
/// loaded in turn with the same load by the same clients.</summary>
internal static class EdaExperiment
{
    private const string Kafka = "Kafka";
    private const string Direct = "direct";
    private const string Ramps = "Requests, ramped up";
    private const string Rates = "Rates";
    private const string Idle = "No load";
    private const int Connections = 6;
    private const double OverloadS = 5;
    private const double KillAfterS = 5;
    private const double KillRunS = 15;
    private const double IdleS = 10;

    private static readonly Figure CpuMs = new("cpu_ms", "CPU", "ms");
    private static readonly Figure CpuMsPerS = new("cpu_ms_per_s", "CPU", "ms/s");

    private static readonly string[] Stages = ["proxy", "kafka", "payments", "balances", "backend", "postgres"];

    // Sources.EventDriven, Table II: the seconds over which so many requests are spread when response times are
    // measured.
    private static readonly Dictionary<int, double> StudyRampsS =
        new() { [100] = 200, [200] = 800, [300] = 2400, [400] = 6400, [500] = 16000 };

    /// <summary>The options of the experiment.</summary>
    /// <param name="Protocol">The protocol between the direct side's proxies and backends.</param>
    /// <param name="Ramps">Numbers of requests that are ramped up.</param>
    /// <param name="HasStudyRates">Whether each ramp takes as long as the study's; otherwise a second.</param>
    /// <param name="Rounds">Number of measured rounds.</param>
    /// <param name="Rate">Requests per second of the long run, and of the run with a killed backend.</param>
    /// <param name="During">Duration of the long run.</param>
    /// <param name="OverloadRate">Requests per second of the overload.</param>
    /// <param name="Size">Number of proxies, and of backends, of each side.</param>
    public sealed record Options(
        string Protocol, IReadOnlyList<int> Ramps, bool HasStudyRates, int Rounds, int Rate,
        TimeSpan During, int OverloadRate, int Size);

    private static string SpreadOf(Options options) => options.HasStudyRates
        ? "the requests are spread over its times, 200 to 16,000 seconds"
        : "the requests are spread over one second here, over 200 to 16,000 seconds there "
            + "(--study-rates repeats that, for hours)";

    public static Experiment Plan(Options options, IAnsiConsole console) => new()
    {
        Kind = "compare-eda",
        Title = "Event-driven compared with API-driven",
        Paper = Sources.EventDriven,
        Facts =
        [
            new Fact(
                "Sides",
                $"each with {options.Size} proxies and its own PostgreSQL; one through Kafka, with "
                    + $"{Numbers.Counted(options.Size, "payment backend")} and "
                    + $"{Numbers.Counted(options.Size, "balance backend")}, the other by direct calls over "
                    + $"{options.Protocol}, with {Numbers.Counted(options.Size, "backend")} that do both; an account "
                    + "has one backend on either side, but over Kafka another takes over the accounts of a killed "
                    + "one, and by direct calls none does: what fails then says nothing about the style of the API"),
            new Fact(
                "Method",
                "open loop: latency counts from the moment that a request was due; the clients of both sides retry as "
                    + "the SDK does; processor time is that of all programs of the side without the load tool, in "
                    + "nanoseconds, background work included: see the section without load"),
            new Fact(
                "The study",
                $"a fabric store over NATS Streaming and over HTTP calls; {SpreadOf(options)}; its error rates and CPU "
                    + "are those of its Tables V and VI, measured with other ramps and without one"),
        ],
        Sections =
        [
            new SectionPlan(
                Ramps, "Requests", Figure.MeanMs, Figure.FailedPercent, CpuMs, Figure.P50Ms, Figure.P99Ms, Figure.MaxMs)
            {
                Compared = Figure.MeanMs,
            },
            new SectionPlan(
                Rates, "Load",
                [
                    Figure.PerSecond, Figure.MeanMs, Figure.P99Ms, Figure.MaxMs, Figure.FailedPercent, Figure.CpuUs,
                    .. Stages.Select(Figure.CpuOf),
                ])
            {
                Compared = Figure.MeanMs,
                Charted = Figure.MeanMs,
                Note = "The processor time of a killed backend is not known and not included.",
            },
            new SectionPlan(Idle, "Load", CpuMsPerS),
        ],
        Parts =
        [
            new Part(
                [SideOf(Kafka, "kafka", options, console), SideOf(Direct, "direct", options, console)],
                [
                    .. options.Ramps.Select(requests => RampOf(requests, options)),
                    new Case(Idle, "idle", IdleAsync),
                    Case.Of(Rates, $"{Numbers.Whole(options.Rate)}/s", Spec(options.Rate, options.During.TotalSeconds)),
                    Case.Of(
                        Rates, $"overload: {Numbers.Whole(options.OverloadRate)}/s",
                        Spec(options.OverloadRate, OverloadS)) with { MayFail = true },
                    new Case(
                        Rates,
                        $"{Numbers.Whole(options.Rate)}/s, one backend killed after {KillAfterS:0} of {KillRunS:0} s",
                        (side, cancellationToken) => KillingAsync(
                            (StackSide)side, Spec(options.Rate, KillRunS), cancellationToken)) with { MayFail = true },
                ],
                options.Rounds),
        ],
    };

    private static SidePlan SideOf(string name, string transport, Options options, IAnsiConsole console) =>
        StackSide.Plan(
            name,
            new StackOptions
            {
                Proxies = options.Size,
                PaymentBackends = options.Size,
                BalanceBackends = transport == "kafka" ? options.Size : 1,
                Transport = transport,
                Protocol = options.Protocol,
            },
            console);

    private static Case RampOf(int requests, Options options)
    {
        var seconds = options.HasStudyRates && StudyRampsS.TryGetValue(requests, out var study) ? study : 1;
        return new Case(Ramps, requests.ToString(CultureInfo.InvariantCulture), async (side, cancellationToken) =>
        {
            var load = await side.LoadAsync(Spec(requests / seconds, seconds), 1, cancellationToken);
            var measured = Measured.Of(load);
            return measured with
            {
                Figures = new Dictionary<string, double>(measured.Figures)
                {
                    [CpuMs.Id] = load.CpuS.Where(c => c.Key != LoadFigures.Client).Sum(c => c.Value) * 1000,
                },
            };
        }) with
        {
            Published = PublishedOf(requests),
        };
    }

    private static async Task<Measured> IdleAsync(Side side, CancellationToken cancellationToken)
    {
        var cpu = new CpuMeter(Programs.Of(((StackSide)side).Stack));
        await Task.Delay(TimeSpan.FromSeconds(IdleS), cancellationToken);
        return new Measured(
            new Dictionary<string, double> { [CpuMsPerS.Id] = cpu.Elapsed().Values.Sum() * 1000 / IdleS },
            new Dictionary<string, long>());
    }

    // Kills the first backend of a side during the load, and starts it again afterwards.
    private static async Task<Measured> KillingAsync(StackSide side, LoadSpec spec, CancellationToken cancellationToken)
    {
        var victim = side.Stack.Services.First(
            s => s.Number == 1 && s.Role is ServiceRole.PaymentBackend or ServiceRole.DirectBackend);
        await using var load = await side.Fleet.StartAsync(side.Complete(spec), 1, cancellationToken);
        await load.WaitUntilReadyAsync(cancellationToken);
        var running = load.RunAsync(Programs.Of(side.Stack), cancellationToken);
        await Task.WhenAny(running, Task.Delay(TimeSpan.FromSeconds(KillAfterS), cancellationToken));
        victim.Process.Kill();
        var figures = await running;
        await side.Stack.AddAsync(victim.Role, victim.Number, cancellationToken);
        return Measured.Of(figures);
    }

    private static LoadSpec Spec(double perS, double seconds) => new()
    {
        Addresses = [],
        Connections = Connections,
        Shape = LoadShape.Open.At(perS, seconds),
        WarmUp = LoadShape.Open.At(Math.Min(perS, 500), 1),
        DeadlineS = 10,
    };

    // Sources.EventDriven, Tables IV, V and VI.
    private static Dictionary<string, IReadOnlyDictionary<string, double>> PublishedOf(int requests) => requests switch
    {
        100 => Row((2096, 0, 865.32), (2247, 0, 814.76)),
        200 => Row((2905, 7, 1521.37), (3852, 11, 1561.92)),
        300 => Row((3277, 10.33, 2265.83), (3895, 11.33, 2071.35)),
        400 => Row((4433, 10.5, 2932.64), (5215, 9.25, 2694.58)),
        500 => Row((5805, 4, 3721.51), (6859, 11.2, 3386.90)),
        _ => [],
    };

    private static Dictionary<string, IReadOnlyDictionary<string, double>> Row(
        (double MeanMs, double FailedPercent, double CpuMs) events,
        (double MeanMs, double FailedPercent, double CpuMs) api)
    {
        return new() { [Kafka] = Of(events), [Direct] = Of(api) };

        static Dictionary<string, double> Of((double MeanMs, double FailedPercent, double CpuMs) row) =>
            new()
            {
                [Figure.MeanMs.Id] = row.MeanMs,
                [Figure.FailedPercent.Id] = row.FailedPercent,
                [CpuMs.Id] = row.CpuMs,
            };
    }
}
