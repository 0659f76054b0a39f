using HdrHistogram;

namespace Billing.Driver.Metering;

/// <summary>A histogram of latencies from a microsecond to an hour, to three significant digits, in bounded memory.
/// Longer latencies count as an hour. Any thread may record at any time.</summary>
public sealed class LatencyHistogram
{
    private const long Longest = 3_600_000_000;

    // A histogram of the library that several threads may record to must not be read meanwhile.
    private readonly Lock _gate = new();
    private readonly LongHistogram _microseconds = new(1, Longest, 3);

    /// <summary>Returns the figures of several drivers' counts together.</summary>
    public static LatencyFigures FiguresOf(IEnumerable<IReadOnlyList<LatencyCount>> counts)
    {
        ArgumentNullException.ThrowIfNull(counts);
        var all = new LatencyHistogram();
        foreach (var one in counts)
        {
            all.Add(one);
        }
        return all.Figures();
    }

    /// <summary>Records the latency of one request, in microseconds.</summary>
    public void Record(long microseconds) => Record(microseconds, 1);

    /// <summary>Adds the counts of another histogram.</summary>
    public void Add(IEnumerable<LatencyCount> counts)
    {
        ArgumentNullException.ThrowIfNull(counts);
        foreach (var count in counts)
        {
            Record(count.Microseconds, count.Requests);
        }
    }

    /// <summary>Returns the counts, shortest latency first, so that another process can add them to its own
    /// histogram.</summary>
    public IReadOnlyList<LatencyCount> Counts()
    {
        lock (_gate)
        {
            return
            [
                .. _microseconds.RecordedValues()
                    .Select(v => new LatencyCount(v.ValueIteratedTo, v.CountAddedInThisIterationStep)),
            ];
        }
    }

    /// <summary>Returns minimum, mean, percentiles and maximum; all are zero if nothing was recorded.</summary>
    public LatencyFigures Figures()
    {
        lock (_gate)
        {
            return _microseconds.TotalCount == 0
                ? new LatencyFigures(0, 0, 0, 0, 0, 0, 0, 0, 0)
                : new LatencyFigures(
                    At(0), Milliseconds(_microseconds.GetMean()), At(50), At(75),
                    At(90), At(95), At(99), At(99.9), At(100));
        }

        double At(double percentile) => Milliseconds(_microseconds.GetValueAtPercentile(percentile));
    }

    private void Record(long microseconds, long requests)
    {
        lock (_gate)
        {
            _microseconds.RecordValueWithCount(Math.Clamp(microseconds, 1, Longest), requests);
        }
    }

    private static double Milliseconds(double microseconds) => microseconds / 1000;
}

/// <summary>The number of requests with the same latency.</summary>
/// <param name="Microseconds">The latency, to the resolution of the histogram.</param>
public readonly record struct LatencyCount(long Microseconds, long Requests);

/// <summary>Latencies of requests, in milliseconds.</summary>
/// <param name="MinMs">The shortest latency.</param>
/// <param name="P50Ms">The median.</param>
/// <param name="P75Ms">The 75th percentile.</param>
/// <param name="P90Ms">The 90th percentile.</param>
/// <param name="P95Ms">The 95th percentile.</param>
/// <param name="P99Ms">The 99th percentile.</param>
/// <param name="P999Ms">The 99.9th percentile.</param>
/// <param name="MaxMs">The longest latency.</param>
public sealed record LatencyFigures(
    double MinMs, double MeanMs, double P50Ms, double P75Ms, double P90Ms,
    double P95Ms, double P99Ms, double P999Ms, double MaxMs);
