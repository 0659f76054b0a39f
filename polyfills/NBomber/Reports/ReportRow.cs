using System.Globalization;
using NBomber.Contracts.Stats;

namespace NBomber.Reports;

/// <summary>A line of every report: the calls of a scenario, or of one of its steps, that ended well,
/// or those that did not.</summary>
internal sealed record ReportRow(string Scenario, string Name, string Outcome, MeasurementStats Stats)
{
    public static IReadOnlyList<string> Columns { get; } =
        [
            "step", "outcome", "count", "per second", "min ms", "mean ms",
            "p50 ms", "p75 ms", "p95 ms", "p99 ms", "max ms",
        ];

    public IReadOnlyList<string> Cells =>
    [
        Name, Outcome, Stats.Request.Count.ToString(CultureInfo.InvariantCulture), Decimal(Stats.Request.RPS),
        Decimal(Stats.Latency.MinMs), Decimal(Stats.Latency.MeanMs),
        Decimal(Stats.Latency.Percent50), Decimal(Stats.Latency.Percent75),
        Decimal(Stats.Latency.Percent95), Decimal(Stats.Latency.Percent99), Decimal(Stats.Latency.MaxMs),
    ];

    public static IEnumerable<ReportRow> Of(ScenarioStats scenario)
    {
        yield return new(scenario.ScenarioName, "global information", "ok", scenario.Ok);
        yield return new(scenario.ScenarioName, "global information", "fail", scenario.Fail);
        foreach (var step in scenario.StepStats)
        {
            yield return new(scenario.ScenarioName, step.StepName, "ok", step.Ok);
            yield return new(scenario.ScenarioName, step.StepName, "fail", step.Fail);
        }
    }

    private static string Decimal(double value) => value.ToString("0.00", CultureInfo.InvariantCulture);
}
