namespace NBomber.Contracts;

public enum ScenarioOperation
{
    Init = 0,
    Clean = 1,
    WarmUp = 2,
    Bombing = 3,
}

public sealed class ScenarioInfo
{
    internal ScenarioInfo(string scenarioName, ScenarioOperation scenarioOperation)
    {
        ScenarioName = scenarioName;
        ScenarioOperation = scenarioOperation;
    }

    public string ScenarioName { get; }

    public ScenarioOperation ScenarioOperation { get; }
}

public interface IScenarioInitContext
{
    ScenarioInfo ScenarioInfo { get; }
}

public interface IScenarioContext
{
    ScenarioInfo ScenarioInfo { get; }

    int InvocationNumber { get; }

    void StopScenario(string scenarioName, string reason);
}

public sealed record ScenarioProps
{
    internal ScenarioProps(string scenarioName, Func<IScenarioContext, Task<IResponse>> run)
    {
        ScenarioName = scenarioName;
        Run = run;
    }

    public string ScenarioName { get; }

    public bool RestartIterationOnFail { get; internal init; } = true;

    public int MaxFailCount { get; internal init; } = 5_000;

    internal Func<IScenarioContext, Task<IResponse>> Run { get; }

    internal Func<IScenarioInitContext, Task>? Init { get; init; }

    internal TimeSpan? WarmUpDuration { get; init; } = TimeSpan.FromSeconds(30);

    internal IReadOnlyList<LoadSimulation> LoadSimulations { get; init; } =
        [new LoadSimulation.KeepConstant(1, TimeSpan.FromMinutes(1))];
}

/// <summary>Made by <see cref="CSharp.Simulation"/>.</summary>
public abstract class LoadSimulation
{
    private LoadSimulation(TimeSpan interval, TimeSpan during)
    {
        Interval = interval;
        During = during;
    }

    /// <summary>How often calls are injected, or copies adjusted.</summary>
    internal TimeSpan Interval { get; }

    internal TimeSpan During { get; }

    internal sealed class KeepConstant(int copies, TimeSpan during) : LoadSimulation(TimeSpan.FromSeconds(1), during)
    {
        public int Copies => copies;
    }

    internal sealed class RampingInject(int rate, TimeSpan interval, TimeSpan during) : LoadSimulation(interval, during)
    {
        public int Rate => rate;
    }

    internal sealed class Inject(int rate, TimeSpan interval, TimeSpan during) : LoadSimulation(interval, during)
    {
        public int Rate => rate;
    }

    internal sealed class Pause(TimeSpan during) : LoadSimulation(TimeSpan.FromSeconds(1), during);
}
