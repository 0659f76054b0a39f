using NBomber.Contracts.Stats;

namespace NBomber.Reports;

/// <summary>A line of every report: the calls of a scenario, or of one of its steps, that ended well, or those that did not.
/// </summary>
internal sealed record ReportRow(string Scenario, string Name, string Outcome, MeasurementStats Stats)
{
    public const string WholeScenario = "global information";

    public static IEnumerable<ReportRow> Of(ScenarioStats scenario)
    {
        yield return new(scenario.ScenarioName, WholeScenario, "ok", scenario.Ok);
        yield return new(scenario.ScenarioName, WholeScenario, "fail", scenario.Fail);
        foreach (var step in scenario.StepStats)
        {
            yield return new(scenario.ScenarioName, step.StepName, "ok", step.Ok);
            yield return new(scenario.ScenarioName, step.StepName, "fail", step.Fail);
        }
    }

    public static IReadOnlyList<string> Columns { get; } =
        ["step", "outcome", "count", "%", "per second", "min ms", "mean ms", "max ms", "std dev", "p50 ms", "p75 ms", "p95 ms", "p99 ms", "bytes"];

    public IReadOnlyList<string> Cells =>
    [
        Name, Outcome, TextReport.Number(Stats.Request.Count), TextReport.Number(Stats.Request.Percent),
        TextReport.Decimal(Stats.Request.RPS), TextReport.Decimal(Stats.Latency.MinMs), TextReport.Decimal(Stats.Latency.MeanMs),
        TextReport.Decimal(Stats.Latency.MaxMs), TextReport.Decimal(Stats.Latency.StdDev), TextReport.Decimal(Stats.Latency.Percent50),
        TextReport.Decimal(Stats.Latency.Percent75), TextReport.Decimal(Stats.Latency.Percent95),
        TextReport.Decimal(Stats.Latency.Percent99), TextReport.Number(Stats.DataTransfer.AllBytes),
    ];
}
