using Billing.ScenarioFiles;
using NBomber.Contracts.Stats;

namespace Billing.Scenarios;

/// <summary>Converts NBomber's figures.</summary>
internal static class Figures
{
    /// <param name="stats">NBomber's statistics.</param>
    /// <param name="duration">The duration by which counts are divided to get rates.</param>
    public static ScenarioResult Of(ScenarioStats stats, TimeSpan duration) => new()
    {
        DurationS = duration.TotalSeconds,
        Calls = Of(stats.Ok, stats.Fail, duration),
        Steps = stats.StepStats.ToDictionary(s => s.StepName, s => Of(s.Ok, s.Fail, duration)),
        Statuses = CountByStatus(stats),
        Retried = 0,
    };

    private static CallFigures Of(MeasurementStats ok, MeasurementStats fail, TimeSpan duration) => new(
        ok.Request.Count + fail.Request.Count, ok.Request.Count, fail.Request.Count,
        duration > TimeSpan.Zero ? ok.Request.Count / duration.TotalSeconds : 0, ok.Latency.MinMs, ok.Latency.MeanMs,
        ok.Latency.Percent50, ok.Latency.Percent75, ok.Latency.Percent95, ok.Latency.Percent99, ok.Latency.MaxMs);

    // NBomber counts the status of a step both for the step and for the scenario.
    private static SortedDictionary<string, int> CountByStatus(ScenarioStats stats)
    {
        IEnumerable<MeasurementStats> measured = stats.StepStats.Length > 0
            ? stats.StepStats.SelectMany(s => new[] { s.Ok, s.Fail })
            : [stats.Ok, stats.Fail];
        var counts = new SortedDictionary<string, int>(StringComparer.Ordinal);
        foreach (var status in measured.SelectMany(m => m.StatusCodes))
        {
            counts[status.StatusCode] = counts.GetValueOrDefault(status.StatusCode) + status.Count;
        }
        return counts;
    }
}
