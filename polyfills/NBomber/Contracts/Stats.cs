// As in the genuine records, a member that nobody has set is null, whatever its type says.
namespace NBomber.Contracts.Stats;

public enum ReportFormat
{
    Txt = 0,
    Html = 1,
    Csv = 2,
    Md = 3,
}

public sealed class StatusCodeStats
{
    public string StatusCode { get; set; } = null!;

    public bool IsError { get; set; }

    public string Message { get; set; } = null!;

    public int Count { get; set; }
}

public sealed class RequestStats
{
    public int Count { get; set; }

    public double RPS { get; set; }
}

public sealed class LatencyStats
{
    public double MinMs { get; set; }

    public double MeanMs { get; set; }

    public double MaxMs { get; set; }

    public double Percent50 { get; set; }

    public double Percent75 { get; set; }

    public double Percent95 { get; set; }

    public double Percent99 { get; set; }
}

public sealed class MeasurementStats
{
    public RequestStats Request { get; set; } = null!;

    public LatencyStats Latency { get; set; } = null!;

    public StatusCodeStats[] StatusCodes { get; set; } = null!;
}

public sealed class StepStats
{
    public string StepName { get; set; } = null!;

    public MeasurementStats Ok { get; set; } = null!;

    public MeasurementStats Fail { get; set; } = null!;
}

public sealed class ScenarioStats
{
    public string ScenarioName { get; set; } = null!;

    public MeasurementStats Ok { get; set; } = null!;

    public MeasurementStats Fail { get; set; } = null!;

    public StepStats[] StepStats { get; set; } = null!;

    public TimeSpan Duration { get; set; }

    public StepStats GetStepStats(string stepName) =>
        Array.Find(StepStats, s => s.StepName == stepName)
        ?? throw new KeyNotFoundException($"There is no step '{stepName}'.");
}

public sealed class NodeStats
{
    public ScenarioStats[] ScenarioStats { get; set; } = null!;

    public TimeSpan Duration { get; set; }

    public ScenarioStats GetScenarioStats(string scenarioName) =>
        Array.Find(ScenarioStats, s => s.ScenarioName == scenarioName)
        ?? throw new KeyNotFoundException($"There is no scenario '{scenarioName}'.");
}
