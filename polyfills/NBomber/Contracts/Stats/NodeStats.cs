namespace NBomber.Contracts.Stats;

public sealed class LoadSimulationStats
{
    public string SimulationName { get; set; } = null!;

    public int Value { get; set; }
}

public sealed class ScenarioStats
{
    public string ScenarioName { get; set; } = null!;

    public MeasurementStats Ok { get; set; } = null!;

    public MeasurementStats Fail { get; set; } = null!;

    public StepStats[] StepStats { get; set; } = null!;

    public LoadSimulationStats LoadSimulationStats { get; set; } = null!;

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
    public ScenarioStats[] ScenarioStats { get; set; } = null!;

    public NodeInfo NodeInfo { get; set; } = null!;

    public TestInfo TestInfo { get; set; } = null!;

    public int AllRequestCount { get; set; }

    public int AllOkCount { get; set; }

    public int AllFailCount { get; set; }

    public long AllBytes { get; set; }

    public TimeSpan Duration { get; set; }

    public ReportFile[] ReportFiles { get; set; } = null!;
}
