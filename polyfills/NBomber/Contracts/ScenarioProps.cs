namespace NBomber.Contracts;

public sealed record ScenarioProps
{
    internal ScenarioProps(string scenarioName, Func<IScenarioContext, Task<IResponse>>? run)
    {
        ScenarioName = scenarioName;
        Run = run;
    }

    public string ScenarioName { get; }

    public bool RestartIterationOnFail { get; internal init; } = true;

    public int MaxFailCount { get; internal init; } = 5_000;

    internal Func<IScenarioContext, Task<IResponse>>? Run { get; }

    internal Func<IScenarioInitContext, Task>? Init { get; init; }

    internal Func<IScenarioInitContext, Task>? Clean { get; init; }

    internal TimeSpan WarmUpDuration { get; init; } = TimeSpan.FromSeconds(30);

    internal IReadOnlyList<LoadSimulation> LoadSimulations { get; init; } =
        [new LoadSimulation.KeepConstant(1, TimeSpan.FromMinutes(1))];
}
