namespace NBomber.Contracts.Stats;

public sealed class LoadSimulationStats
{
    public string SimulationName { get; set; } = "";

    public int Value { get; set; }
}

public sealed class ScenarioStats
{
    public string ScenarioName { get; set; } = "";

    public MeasurementStats Ok { get; set; } = new();

    public MeasurementStats Fail { get; set; } = new();

    public StepStats[] StepStats { get; set; } = [];

    public LoadSimulationStats LoadSimulationStats { get; set; } = new();

    public OperationType CurrentOperation { get; set; }

    public int AllRequestCount { get; set; }

    public int AllOkCount { get; set; }

    public int AllFailCount { get; set; }

    public long AllBytes { get; set; }

    public TimeSpan Duration { get; set; }

    public int SortIndex { get; set; }
}

public sealed class NodeStats
{
    public ScenarioStats[] ScenarioStats { get; set; } = [];

    public NodeInfo NodeInfo { get; set; } = new();

    public TestInfo TestInfo { get; set; } = new();

    public int AllRequestCount { get; set; }

    public int AllOkCount { get; set; }

    public int AllFailCount { get; set; }

    public long AllBytes { get; set; }

    public TimeSpan Duration { get; set; }

    public ReportFile[] ReportFiles { get; set; } = [];
}
