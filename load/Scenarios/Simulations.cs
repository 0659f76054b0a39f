using NBomber.Contracts;
using NBomber.CSharp;

namespace Billing.Scenarios;

/// <summary>Shapes of a load in NBomber's terms. NBomber injects a whole number of calls at the start of each interval, and each
/// of them starts at a random moment within the interval; so the shorter the interval, the more evenly they come.</summary>
internal static class Simulations
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    // Calls whose moment falls near the end of a simulation are dropped with it, unless another one follows. NBomber leaves a
    // pause out of its rates.
    private static readonly LoadSimulation LastCalls = Simulation.Pause(Second);

    // Shorter ones stretch: each ends with a timer that may be a millisecond late.
    private static readonly int[] IntervalsMs = [100, 200, 500, 1000];

    /// <summary>What makes calls come in this shape.</summary>
    public static LoadSimulation[] Of(LoadShape shape) => shape switch
    {
        LoadShape.Open open => [Constant(open.Rate, Interval(open.During, open.Rate), open.During), LastCalls],
        LoadShape.Closed closed => [Simulation.KeepConstant(closed.Copies, closed.During)],
        LoadShape.Ramp ramp => Ramp(ramp, Interval(ramp.During, ramp.From, ramp.To)),
        // They gather within this second; see BurstGate.
        LoadShape.Burst burst => [Simulation.Inject(burst.Calls, Second, Second), Simulation.Pause(BurstGate.Patience)],
        _ => throw new InvalidOperationException($"There is no load shape {shape.GetType().Name}."),
    };

    /// <summary>The shortest interval of which each rate, in calls per second, is a whole number of calls, and the time a whole
    /// number of intervals; where there is none, the time is rounded up to one.</summary>
    internal static TimeSpan Interval(TimeSpan during, params int[] rates)
    {
        var whole = IntervalsMs.Where(ms => rates.All(rate => rate * (long)ms % 1000 == 0)).Select(ms => TimeSpan.FromMilliseconds(ms)).ToList();
        return whole.Find(interval => during.Ticks % interval.Ticks == 0) is var even && even > TimeSpan.Zero ? even : whole[0];
    }

    private static LoadSimulation[] Ramp(LoadShape.Ramp ramp, TimeSpan interval) =>
    [
        // A ramp starts at the rate of the simulation before it.
        Constant(ramp.From, interval, Second),
        Simulation.RampingInject(Calls(ramp.To, interval), interval, ramp.During),
        LastCalls,
    ];

    private static LoadSimulation Constant(int rate, TimeSpan interval, TimeSpan during) =>
        Simulation.Inject(Calls(rate, interval), interval, during);

    private static int Calls(int rate, TimeSpan interval) => (int)(rate * interval.Ticks / TimeSpan.TicksPerSecond);
}
