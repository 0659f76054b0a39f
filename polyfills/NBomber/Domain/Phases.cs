using NBomber.Contracts;

namespace NBomber.Domain;

internal static class Phases
{
    private static readonly TimeSpan ShortestPhase = TimeSpan.FromSeconds(1);

    /// <summary>A ramp starts at the rate, or the number of copies, at which the phase before it ended.</summary>
    public static IReadOnlyList<Phase> Of(IReadOnlyList<LoadSimulation> simulations)
    {
        var phases = new List<Phase>();
        var (rate, copies) = (0, 0);
        foreach (var simulation in simulations)
        {
            phases.Add(Of(simulation, rate, copies));
            (rate, copies) = End(simulation);
        }
        return phases;
    }

    /// <summary>What warms up: the first simulation at its height, for another time.</summary>
    public static LoadSimulation WarmUp(IReadOnlyList<LoadSimulation> simulations, TimeSpan during)
    {
        var first = simulations.FirstOrDefault(s => s is not LoadSimulation.Pause);
        return first switch
        {
            LoadSimulation.Inject s => new LoadSimulation.Inject(s.Rate, s.Interval, during),
            LoadSimulation.RampingInject s => new LoadSimulation.Inject(s.Rate, s.Interval, during),
            LoadSimulation.InjectRandom s => new LoadSimulation.InjectRandom(s.MinRate, s.MaxRate, s.Interval, during),
            LoadSimulation.IterationsForInject s => new LoadSimulation.Inject(s.Rate, s.Interval, during),
            LoadSimulation.RampingConstant s => new LoadSimulation.KeepConstant(s.Copies, during),
            LoadSimulation.KeepConstant s => new LoadSimulation.KeepConstant(s.Copies, during),
            LoadSimulation.IterationsForConstant s => new LoadSimulation.KeepConstant(s.Copies, during),
            _ => new LoadSimulation.Pause(during),
        };
    }

    /// <exception cref="InvalidOperationException">It cannot be run; the text says why.</exception>
    public static void RequireValid(string scenario, LoadSimulation simulation)
    {
        var problem = simulation switch
        {
            LoadSimulation.Inject s => Rate(s.Rate) ?? Interval(s.Interval) ?? Duration(s.During),
            LoadSimulation.RampingInject s => (s.Rate < 0 ? "its rate is negative" : null) ?? Interval(s.Interval) ?? Duration(s.During),
            LoadSimulation.InjectRandom s => Rate(s.MaxRate) ?? (s.MinRate < 0 || s.MinRate > s.MaxRate ? "its lowest rate is not within 0 and the highest" : null)
                ?? Interval(s.Interval) ?? Duration(s.During),
            LoadSimulation.IterationsForInject s => Rate(s.Rate) ?? Interval(s.Interval) ?? Iterations(s.Iterations),
            LoadSimulation.RampingConstant s => (s.Copies < 0 ? "its number of copies is negative" : null) ?? Duration(s.During),
            LoadSimulation.KeepConstant s => Number(s.Copies) ?? Duration(s.During),
            LoadSimulation.IterationsForConstant s => Number(s.Copies) ?? Iterations(s.Iterations)
                ?? (s.Iterations < s.Copies ? "it has fewer iterations than copies" : null),
            LoadSimulation.Pause s => Duration(s.During),
            _ => null,
        };
        if (problem is not null)
        {
            throw new InvalidOperationException($"Scenario '{scenario}': the simulation {simulation.GetType().Name} cannot be run: {problem}.");
        }
    }

    private static Phase Of(LoadSimulation simulation, int rate, int copies) => simulation switch
    {
        LoadSimulation.Inject s => new OpenPhase("inject", s.During, () => ArrivalSchedule.Constant(s.Rate, s.Interval, s.During)),
        LoadSimulation.RampingInject s => new OpenPhase("ramping_inject", s.During, () => ArrivalSchedule.Ramp(rate, s.Rate, s.Interval, s.During)),
        LoadSimulation.InjectRandom s => new OpenPhase(
            "inject_random", s.During,
            () => ArrivalSchedule.Drawn(s.MinRate, s.MaxRate, s.Interval, s.During, new Random(HashCode.Combine(s.MinRate, s.MaxRate)))),
        LoadSimulation.IterationsForInject s => new OpenPhase(
            "iterations_for_inject", TimeSpan.Zero, () => ArrivalSchedule.Iterations(s.Rate, s.Interval, s.Iterations)),
        LoadSimulation.RampingConstant s => new ClosedPhase("ramping_constant", copies, s.Copies, s.During),
        LoadSimulation.KeepConstant s => new ClosedPhase("keep_constant", s.Copies, s.Copies, s.During),
        LoadSimulation.IterationsForConstant s => new CountedPhase("iterations_for_constant", s.Copies, s.Iterations),
        LoadSimulation.Pause s => new PausePhase(s.During),
        _ => throw new InvalidOperationException($"The simulation {simulation.GetType().Name} is unknown."),
    };

    private static (int Rate, int Copies) End(LoadSimulation simulation) => simulation switch
    {
        LoadSimulation.Inject s => (s.Rate, 0),
        LoadSimulation.RampingInject s => (s.Rate, 0),
        LoadSimulation.InjectRandom s => (s.MaxRate, 0),
        LoadSimulation.IterationsForInject s => (s.Rate, 0),
        LoadSimulation.RampingConstant s => (0, s.Copies),
        LoadSimulation.KeepConstant s => (0, s.Copies),
        _ => (0, 0),
    };

    private static string? Rate(int rate) => rate < 1 ? "its rate is not above zero" : null;

    private static string? Number(int copies) => copies < 1 ? "its number of copies is not above zero" : null;

    private static string? Iterations(int iterations) => iterations < 1 ? "its number of iterations is not above zero" : null;

    private static string? Interval(TimeSpan interval) => interval <= TimeSpan.Zero ? "its interval is not above zero" : null;

    private static string? Duration(TimeSpan during) => during < ShortestPhase ? "it is shorter than a second" : null;
}
