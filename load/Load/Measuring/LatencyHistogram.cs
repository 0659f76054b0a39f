using HdrHistogram;

namespace Billing.Load.Measuring;

/// <summary>How long requests took, to three significant digits from a microsecond to a minute, in bounded memory. What took
/// longer counts as a minute. Any thread may record at any time.</summary>
public sealed class LatencyHistogram
{
    private const long LowestUs = 1;
    private const long HighestUs = 60_000_000;
    private const int SignificantDigits = 3;

    private readonly LongConcurrentHistogram _microseconds = new(LowestUs, HighestUs, SignificantDigits);

    /// <summary>Counts a request.</summary>
    public void Record(TimeSpan latency) =>
        _microseconds.RecordValue(Math.Clamp(latency.Ticks / TimeSpan.TicksPerMicrosecond, LowestUs, HighestUs));

    /// <summary>Counts what another histogram has counted.</summary>
    public void Add(IEnumerable<LatencyCount> counts)
    {
        foreach (var count in counts)
        {
            _microseconds.RecordValueWithCount(Math.Clamp(count.Microseconds, LowestUs, HighestUs), count.Requests);
        }
    }

    /// <summary>What was counted, shortest first, so that another process can add it to its own.</summary>
    public IReadOnlyList<LatencyCount> Counts() =>
        [.. _microseconds.RecordedValues().Select(v => new LatencyCount(v.ValueIteratedTo, v.CountAddedInThisIterationStep))];

    /// <summary>The figures people ask for; all zero where nothing was counted.</summary>
    public LatencyFigures Figures() => _microseconds.TotalCount == 0
        ? new LatencyFigures(0, 0, 0, 0, 0, 0, 0, 0)
        : new LatencyFigures(
            Milliseconds(_microseconds.RecordedValues().First().ValueIteratedTo), Milliseconds(_microseconds.GetMean()),
            At(50), At(90), At(95), At(99), At(99.9), Milliseconds(_microseconds.GetMaxValue()));

    private double At(double percentile) => Milliseconds(_microseconds.GetValueAtPercentile(percentile));

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
