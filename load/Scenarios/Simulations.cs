using NBomber.Contracts;
using NBomber.CSharp;

namespace Billing.Scenarios;

/// <summary>Converts load shapes to NBomber's load simulations. NBomber schedules a whole number of calls per interval, each at a
/// random time within the interval: the shorter the interval, the more evenly the calls are distributed.</summary>
internal static class Simulations
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    // NBomber drops calls scheduled near the end of a simulation unless another simulation follows. It excludes pauses from its
    // rates.
    private static readonly LoadSimulation LastCalls = Simulation.Pause(Second);

    // Shorter intervals would last too long: each ends with a timer that may be a millisecond late.
    private static readonly int[] IntervalsMs = [100, 200, 500, 1000];

    /// <summary>Returns the simulations of a load shape.</summary>
    public static LoadSimulation[] Of(LoadShape shape) => shape switch
    {
        LoadShape.Open open => [Constant(open.Rate, Interval(open.During, open.Rate), open.During), LastCalls],
        LoadShape.Closed closed => [Simulation.KeepConstant(closed.Copies, closed.During)],
        LoadShape.Ramp ramp => Ramp(ramp, Interval(ramp.During, ramp.From, ramp.To)),
        // The calls of a burst are started within this second and held by the BurstGate.
        LoadShape.Burst burst => [Simulation.Inject(burst.Calls, Second, Second), Simulation.Pause(BurstGate.Patience)],
        _ => throw new InvalidOperationException($"There is no load shape {shape.GetType().Name}."),
    };

    /// <summary>The shortest interval in which each rate, in calls per second, is a whole number of calls, and of which the
    /// duration is a multiple. If there is none, the shortest interval with whole numbers of calls; the duration is then rounded
    /// up to a multiple.</summary>
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
