using NBomber.Contracts;

namespace NBomber.Domain;

/// <summary>What NBomber refuses to run.</summary>
internal static class Validation
{
    private static readonly TimeSpan ShortestReportingInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan ShortestSimulation = TimeSpan.FromSeconds(1);

    /// <exception cref="InvalidOperationException">Says what is wrong.</exception>
    public static void RequireValid(NBomberContext context)
    {
        Require(context.Scenarios.Count > 0, "No scenario is registered.");
        Require(
            context.ReportingInterval >= ShortestReportingInterval,
            $"The reporting interval must be {ShortestReportingInterval} or longer; "
                + $"it is {context.ReportingInterval}.");
        Require(
            context.Scenarios.All(s => !string.IsNullOrWhiteSpace(s.ScenarioName))
                && context.Scenarios.DistinctBy(s => s.ScenarioName, StringComparer.Ordinal).Count()
                    == context.Scenarios.Count,
            "Each scenario must have a name of its own.");
        foreach (var scenario in context.Scenarios)
        {
            RequireValid(scenario);
        }
    }

    private static void RequireValid(ScenarioProps scenario)
    {
        var planned = scenario.LoadSimulations.Aggregate(TimeSpan.Zero, (sum, s) => sum + s.During);
        Require(
            scenario.WarmUpDuration is null || scenario.WarmUpDuration <= planned,
            $"Scenario '{scenario.ScenarioName}' takes {planned} and may not warm up for longer than that.");
        foreach (var simulation in scenario.LoadSimulations)
        {
            Require(
                simulation.During >= ShortestSimulation && simulation.Interval <= simulation.During,
                $"A simulation of scenario '{scenario.ScenarioName}' must take {ShortestSimulation} and its "
                    + "interval, or longer.");
        }
    }

    private static void Require(bool condition, string otherwise)
    {
        if (!condition)
        {
            throw new InvalidOperationException(otherwise);
        }
    }
}
