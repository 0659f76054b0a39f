using Billing.Measuring.Loads;

namespace Billing.Measuring.Experiments;

/// <summary>A named figure of an experiment, as JSON; the names are part of the interface.</summary>
/// <param name="Id">Its name in the results.</param>
/// <param name="Name">Its name for readers.</param>
/// <param name="Unit">Its unit; empty for none.</param>
/// <param name="Decimals">Decimals with which it is shown; null for three significant digits.</param>
internal sealed record Figure(string Id, string Name, string Unit = "", int? Decimals = null)
{
    public static Figure PerSecond { get; } = new("per_second", "Answers", "/s", 0);
    public static Figure Offered { get; } = new("offered_per_second", "Offered", "/s", 0);
    public static Figure DurationS { get; } = new("duration_s", "Time", "s", 2);
    public static Figure MeanMs { get; } = new("mean_ms", "mean", "ms");
    public static Figure P50Ms { get; } = new("p50_ms", "p50", "ms");
    public static Figure P75Ms { get; } = new("p75_ms", "p75", "ms");
    public static Figure P95Ms { get; } = new("p95_ms", "p95", "ms");
    public static Figure P99Ms { get; } = new("p99_ms", "p99", "ms");
    public static Figure MaxMs { get; } = new("max_ms", "max", "ms");
    public static Figure ShortestS { get; } = new("since_start_min_s", "min since the start", "s", 2);
    public static Figure LongestS { get; } = new("since_start_max_s", "max since the start", "s", 2);
    public static Figure AverageS { get; } = new("since_start_mean_s", "mean since the start", "s", 2);
    public static Figure CallShortestS { get; } = new("min_s", "min of a call", "s", 2);
    public static Figure CallLongestS { get; } = new("max_s", "max of a call", "s", 2);
    public static Figure CallAverageS { get; } = new("mean_s", "mean of a call", "s", 2);
    public static Figure Answered { get; } = new("answered", "Answered", "", 0);
    public static Figure Failed { get; } = new("failed", "Failed", "", 0);
    public static Figure FailedPercent { get; } = new("failed_percent", "Failed", "%");
    public static Figure CpuUs { get; } = new("cpu_us", "CPU without the load tool", "µs each", 0);

    public static Figure PerCoreS { get; } = new(
        "per_core_second", "Calls of a core, the load tool's included", "/s", 0);

    /// <summary>The processor microseconds of one role's programs for each request sent.</summary>
    public static Figure CpuOf(string role) => new("cpu_us_" + role, role, "µs", 0);
}

/// <summary>One measurement of one side, as JSON.</summary>
/// <param name="Figures">The figures by id.</param>
/// <param name="Errors">Number of failed requests by status.</param>
internal sealed record Measured(IReadOnlyDictionary<string, double> Figures, IReadOnlyDictionary<string, long> Errors)
{
    /// <summary>Number of failed requests.</summary>
    public long Failed => Errors.Values.Sum();

    /// <summary>The figures of a whole load.</summary>
    public static Measured Of(LoadFigures load)
    {
        var sent = Math.Max(1.0, load.All.Answered + load.All.Failed);
        var figures = FiguresOf(load.All);
        figures[Figure.PerSecond.Id] = load.PerSecond;
        figures[Figure.DurationS.Id] = load.DurationS;
        foreach (var (role, seconds) in load.CpuS)
        {
            figures[Figure.CpuOf(role).Id] = seconds * 1e6 / sent;
        }
        if (load.CpuS.Values.Sum() is > 0 and var coreSeconds)
        {
            figures[Figure.PerCoreS.Id] = load.All.Answered / coreSeconds;
        }
        figures[Figure.CpuUs.Id] = load.CpuS.Where(c => c.Key != LoadFigures.Client).Sum(c => c.Value) * 1e6 / sent;
        return new Measured(figures, load.All.Errors);
    }

    /// <summary>The figures of one phase of an open load.</summary>
    public static Measured Of(PhaseFigures phase, double durationS, double offeredPerS)
    {
        var figures = FiguresOf(phase.All);
        figures[Figure.PerSecond.Id] = phase.All.Answered / durationS;
        figures[Figure.Offered.Id] = offeredPerS;
        return new Measured(figures, phase.All.Errors);
    }

    private static Dictionary<string, double> FiguresOf(KindFigures all)
    {
        var (call, since) = (all.Latency, all.SinceStart);
        return new Dictionary<string, double>(StringComparer.Ordinal)
        {
            [Figure.MeanMs.Id] = call.MeanMs,
            [Figure.P50Ms.Id] = call.P50Ms,
            [Figure.P75Ms.Id] = call.P75Ms,
            [Figure.P95Ms.Id] = call.P95Ms,
            [Figure.P99Ms.Id] = call.P99Ms,
            [Figure.MaxMs.Id] = call.MaxMs,
            [Figure.CallShortestS.Id] = call.MinMs / 1000,
            [Figure.CallLongestS.Id] = call.MaxMs / 1000,
            [Figure.CallAverageS.Id] = call.MeanMs / 1000,
            [Figure.ShortestS.Id] = since.MinMs / 1000,
            [Figure.LongestS.Id] = since.MaxMs / 1000,
            [Figure.AverageS.Id] = since.MeanMs / 1000,
            [Figure.Answered.Id] = all.Answered,
            [Figure.Failed.Id] = all.Failed,
            [Figure.FailedPercent.Id] = 100.0 * all.Failed / Math.Max(1, all.Answered + all.Failed),
        };
    }
}
