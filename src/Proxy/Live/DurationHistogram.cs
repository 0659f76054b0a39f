using HdrHistogram;

namespace Billing.Proxy.Live;

/// <summary>A histogram of durations from a microsecond to two hours, in which a percentile is accurate to about three percent.
/// Histograms can be added. Thread-safe.</summary>
internal sealed class DurationHistogram
{
    private const long Longest = 7_200_000_000;

    private readonly Lock _gate = new();

    // One significant digit: sixteen buckets to each power of two.
    private readonly IntHistogram _microseconds = new(1, Longest, 1);

    /// <summary>Counts one duration.</summary>
    public void Add(TimeSpan duration)
    {
        lock (_gate)
        {
            _microseconds.RecordValue(Math.Clamp(duration.Ticks / TimeSpan.TicksPerMicrosecond, 0, Longest));
        }
    }

    /// <summary>Adds the counts of another histogram, to one that only the caller uses.</summary>
    public void Add(DurationHistogram other)
    {
        lock (other._gate)
        {
            _microseconds.Add(other._microseconds);
        }
    }

    /// <summary>Number of durations counted.</summary>
    public long Count => _microseconds.TotalCount;

    /// <summary>The duration that a fraction of all durations does not exceed; null if none was counted.</summary>
    /// <param name="part">The fraction: above 0, at most 1.</param>
    public TimeSpan? Percentile(double part) => Count == 0
        ? null
        : TimeSpan.FromMicroseconds(_microseconds.MedianEquivalentValue(_microseconds.GetValueAtPercentile(part * 100)));
}
