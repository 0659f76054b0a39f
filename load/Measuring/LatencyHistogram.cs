namespace Billing.Measuring;

/// <summary>How long requests took, to three significant digits from a microsecond to a minute, in bounded memory. What took
/// longer counts as a minute. Any thread may record at any time.</summary>
public sealed class LatencyHistogram
{
    private readonly MicrosecondHistogram _microseconds = new();

    /// <summary>Counts a request.</summary>
    public void Record(TimeSpan latency) => _microseconds.Record(latency.Ticks / TimeSpan.TicksPerMicrosecond);

    /// <summary>Counts what another histogram has counted.</summary>
    public void Add(IEnumerable<LatencyCount> counts)
    {
        foreach (var count in counts)
        {
            _microseconds.Record(count.Microseconds, count.Requests);
        }
    }

    /// <summary>What was counted, shortest first, so that another process can add it to its own.</summary>
    public IReadOnlyList<LatencyCount> Counts() => [.. _microseconds.Read().Ranges.Select(r => new LatencyCount(r.Highest, r.Times))];

    /// <summary>The figures people ask for; all zero where nothing was counted.</summary>
    public LatencyFigures Figures()
    {
        var counts = _microseconds.Read();
        return counts.Total == 0
            ? new LatencyFigures(0, 0, 0, 0, 0, 0, 0, 0)
            : new LatencyFigures(
                Milliseconds(counts.Ranges[0].Highest), Milliseconds(counts.Mean),
                At(50), At(90), At(95), At(99), At(99.9), At(100));

        double At(double percentile) => Milliseconds(counts.At(percentile));
    }

    private static double Milliseconds(double microseconds) => microseconds / 1000;
}

/// <summary>Requests that took the same time.</summary>
/// <param name="Microseconds">The time, as near as the histogram tells times apart.</param>
/// <param name="Requests">How many.</param>
public readonly record struct LatencyCount(long Microseconds, long Requests);

/// <summary>How long requests took, in milliseconds.</summary>
/// <param name="MinMs">The shortest.</param>
/// <param name="MeanMs">The mean.</param>
/// <param name="P50Ms">Half took at most this.</param>
/// <param name="P90Ms">90 of 100 took at most this.</param>
/// <param name="P95Ms">95 of 100 took at most this.</param>
/// <param name="P99Ms">99 of 100 took at most this.</param>
/// <param name="P999Ms">999 of 1000 took at most this.</param>
/// <param name="MaxMs">The longest.</param>
public sealed record LatencyFigures(
    double MinMs, double MeanMs, double P50Ms, double P90Ms, double P95Ms, double P99Ms, double P999Ms, double MaxMs);
