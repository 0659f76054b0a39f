using NBomber.Contracts.Stats;

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
    internal ScenarioInfo(string scenarioName, int instanceNumber, TimeSpan duration, ScenarioOperation operation)
    {
        ScenarioName = scenarioName;
        InstanceNumber = instanceNumber;
        InstanceId = $"{scenarioName}_{instanceNumber}";
        ScenarioDuration = duration;
        ScenarioOperation = operation;
    }

    public string InstanceId { get; }

    public int InstanceNumber { get; }

    public string ScenarioName { get; }

    public TimeSpan ScenarioDuration { get; }

    public ScenarioOperation ScenarioOperation { get; }
}

public interface IScenarioInitContext
{
    TestInfo TestInfo { get; }

    ScenarioInfo ScenarioInfo { get; }

    NodeInfo NodeInfo { get; }
}

public interface IScenarioContext
{
    TestInfo TestInfo { get; }

    ScenarioInfo ScenarioInfo { get; }

    NodeInfo NodeInfo { get; }

    long InvocationNumber { get; }

    Dictionary<string, object> Data { get; }

    Dictionary<string, object> ScenarioInstanceData { get; }

    CancellationToken ScenarioCancellationToken { get; }

    Random Random { get; }

    void StopScenario(string scenarioName, string reason);

    void StopCurrentTest(string reason);

    TimeSpan GetScenarioTimerTime();
}
