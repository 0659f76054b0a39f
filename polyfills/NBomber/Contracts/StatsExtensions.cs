using NBomber.Contracts.Stats;

namespace NBomber.Contracts;

public static class StatsExtensions
{
    public static StatusCodeStats Get(this StatusCodeStats[] statusCodes, string statusCode) =>
        statusCodes.Find(statusCode) ?? throw new KeyNotFoundException($"Status code: '{statusCode}' is not found.");

    public static StatusCodeStats? Find(this StatusCodeStats[] statusCodes, string statusCode) =>
        Array.Find(statusCodes, s => s.StatusCode == statusCode);

    public static bool Exists(this StatusCodeStats[] statusCodes, string statusCode) => statusCodes.Find(statusCode) is not null;

    public static ScenarioStats Get(this ScenarioStats[] scenarioStats, string name) =>
        scenarioStats.Find(name) ?? throw new KeyNotFoundException($"Scenario: '{name}' is not found.");

    public static ScenarioStats? Find(this ScenarioStats[] scenarioStats, string name) =>
        Array.Find(scenarioStats, s => s.ScenarioName == name);

    public static bool Exists(this ScenarioStats[] scenarioStats, string name) => scenarioStats.Find(name) is not null;

    public static StepStats Get(this StepStats[] stepStats, string name) =>
        stepStats.Find(name) ?? throw new KeyNotFoundException($"Step: '{name}' is not found.");

    public static StepStats? Find(this StepStats[] stepStats, string name) => Array.Find(stepStats, s => s.StepName == name);

    public static bool Exists(this StepStats[] stepStats, string name) => stepStats.Find(name) is not null;
}
