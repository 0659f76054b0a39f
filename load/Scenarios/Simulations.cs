using Billing.ScenarioFiles;
using NBomber.Contracts;
using NBomber.CSharp;

namespace Billing.Scenarios;

/// <summary>Converts load shapes to NBomber's simulations. NBomber injects a whole number of calls at the start of
/// each interval, and each of them starts at a random moment within the interval; so the shorter the interval, the
/// more even the load.</summary>
internal static class Simulations
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    // Calls that are to start near the end of a simulation are dropped, unless another simulation follows.
    // NBomber does not include a pause in its rates.
    private static readonly LoadSimulation LastCalls = Simulation.Pause(Second);

    // Shorter intervals would be prolonged: each ends with a timer that may be a millisecond late.
    private static readonly int[] IntervalsMs = [100, 200, 500, 1000];

    /// <summary>Returns the simulations of a load shape.</summary>
    public static LoadSimulation[] Of(LoadShape shape) => shape switch
    {
        LoadShape.Open open => [Constant(open.Rate, Interval(open.During, open.Rate), open.During), LastCalls],
        LoadShape.Closed closed => [Simulation.KeepConstant(closed.Copies, closed.During)],
        LoadShape.Ramp ramp => Ramp(ramp, Interval(ramp.During, ramp.From, ramp.To)),
        // The calls collect at the BurstGate within this second.
        LoadShape.Burst burst => [Simulation.Inject(burst.Calls, Second, Second), Simulation.Pause(BurstGate.Patience)],
        _ => throw new InvalidOperationException($"Unknown load shape {shape.GetType().Name}."),
    };

    /// <summary>Returns the shortest interval that contains a whole number of calls at each rate, in calls
    /// per second, and that divides the duration; if none divides it, the duration is rounded up to a whole
    /// number of intervals.</summary>
    internal static TimeSpan Interval(TimeSpan during, params int[] rates)
    {
        var whole = IntervalsMs.Where(ms => rates.All(rate => rate * (long)ms % 1000 == 0))
            .Select(ms => TimeSpan.FromMilliseconds(ms)).ToList();
        return whole.Find(interval => during.Ticks % interval.Ticks == 0) is var even && even > TimeSpan.Zero
            ? even
            : whole[0];
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
