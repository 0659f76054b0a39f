using Billing.Driver;
using Billing.LocalStack;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Experiments.Comparisons;

/// <summary>Load below the capacity, then a multiple of it, then below it again, as the same clients see it; and an overload from one
/// caller beside normal load from another. The simulated card network limits the capacity, so that the load tool and the refusals have
/// processor time left.</summary>
internal static class OverloadExperiment
{
    private const string Phases = "One load after another";
    private const string Callers = "Two callers at a time";
    private const string Memory = "Memory";
    private const int AtATime = 25;
    private const int CardMs = 50;
    private const double CapacityPerS = AtATime * 1000.0 / CardMs;
    private const double NormalPerS = CapacityPerS * 0.7;
    private const double ModestPerS = CapacityPerS * 0.1;
    private const int TargetMs = 100;

    private static readonly Figure Before = new("before_mb", "Before", "MB", 0);
    private static readonly Figure Most = new("most_mb", "Peak", "MB", 0);
    private static readonly Figure After = new("after_mb", "After", "MB", 0);

    // Long enough for a 99th percentile under normal load.
    private const double NormallyS = 20;
    private const double RecoveryS = 5;

    private static readonly Figure[] Columns =
        [Figure.Offered, Figure.PerSecond, Figure.P50Ms, Figure.P99Ms, Figure.MaxMs, Figure.Refused, Figure.RefusalP50Ms, Figure.RefusalP99Ms, Figure.OtherErrors];

    public static Experiment Plan(int times, TimeSpan during, int rounds, IAnsiConsole console) => new()
    {
        Kind = "compare-overload",
        Title = "Behaviour under overload",
        Facts =
        [
            new Fact("Method", $"open loop from one driver with one schedule: payments are sent when they are due, whatever became of earlier ones, and latency counts from that moment; no retries; the simulated card network allows {Numbers.Whole(CapacityPerS)}/s; the proxies' LatencyTarget is {TargetMs} ms"),
        ],
        Sections =
        [
            new SectionPlan(Phases, "Phase", Columns) { Charted = Figure.P99Ms },
            new SectionPlan(Callers, "Caller", Columns) { Charted = Figure.P99Ms },
            new SectionPlan(Memory, "Program", Before, Most, After) { Charted = Most },
        ],
        Parts =
        [
            new Part(
                [
                    StackSide.Plan(
                        "platform",
                        new StackOptions
                        {
                            Proxies = 1,
                            PaymentBackends = 1,
                            BalanceBackends = 1,
                            Jitter = true,
                            Settings = new Dictionary<string, string>(SlowCardNetwork.Settings(AtATime, CardMs), StringComparer.Ordinal)
                            {
                                ["Billing__Proxy__LatencyTarget"] = SlowCardNetwork.Time(TargetMs),
                            },
                        },
                        console),
                ],
                [
                    new Case(Phases, "Normal", (side, cancellationToken) => ScheduleAsync((StackSide)side, times, during, cancellationToken)) { MayFail = true },
                    new Case(Callers, $"A caller at {ModestPerS:0}/s", (side, cancellationToken) => FloodAsync((StackSide)side, times, cancellationToken)) { MayFail = true },
                ],
                rounds),
        ],
    };

    private static async Task<IReadOnlyList<MeasuredRow>> ScheduleAsync(StackSide side, int times, TimeSpan during, CancellationToken cancellationToken)
    {
        Phase[] phases =
        [
            new("Normal", NormallyS, NormalPerS, NormalPerS),
            new($"{times} times the capacity", during.TotalSeconds, CapacityPerS * times, CapacityPerS * times),
            new($"First {RecoveryS:0} s after the overload", RecoveryS, NormalPerS, NormalPerS),
            new($"Next {NormallyS:0} s", NormallyS, NormalPerS, NormalPerS),
        ];
        await using var memory = new MemoryWatch([.. side.Stack.Services.Select(s => (s.Process.Name, s.Process.Id))], TimeProvider.System);
        var load = await side.LoadAsync(Spec(new LoadShape.Open(phases)) with { WarmUp = LoadShape.Open.At(NormalPerS, 5) }, 1, cancellationToken);
        return
        [
            .. load.Phases.Zip(phases, (measured, phase) => new MeasuredRow(phase.Name, Measured.Of(measured, phase.DurationS, phase.FromPerS))),
            .. memory.Figures().Select(m => new MeasuredRow(
                m.Program, new Measured(new Dictionary<string, double> { [Before.Id] = m.BeforeMb, [Most.Id] = m.MostMb, [After.Id] = m.AfterMb }, new Dictionary<string, long>()), Memory)),
        ];
    }

    // Proxies tell callers without tokens apart by their addresses.
    private static async Task<IReadOnlyList<MeasuredRow>> FloodAsync(StackSide side, int times, CancellationToken cancellationToken)
    {
        var (floodPerS, floodS) = (CapacityPerS * times, NormallyS + RecoveryS);
        var flood = side.LoadAsync(Spec(LoadShape.Open.At(floodPerS, floodS)) with { From = "127.0.0.2" }, 1, cancellationToken);
        var modest = await side.LoadAsync(Spec(LoadShape.Open.At(ModestPerS, NormallyS)) with { From = "127.0.0.3" }, 1, cancellationToken);
        return
        [
            new MeasuredRow($"A caller at {ModestPerS:0}/s", Measured.Of(modest.Phases[0], NormallyS, ModestPerS)),
            new MeasuredRow($"Another at {times} times the capacity", Measured.Of((await flood).Phases[0], floodS, floodPerS)),
        ];
    }

    private static LoadSpec Spec(LoadShape shape) => new() { Addresses = [], Protocol = LoadProtocol.Unary, Connections = 4, Shape = shape };
}
