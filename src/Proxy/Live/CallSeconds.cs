using System.Collections.Concurrent;
using HdrHistogram;

namespace Billing.Proxy.Live;

/// <summary>Counts, for each of the last seconds, the commands that were answered, the calls that failed, and how long
/// answered calls took. Thread-safe.</summary>
internal sealed class CallSeconds(TimeProvider time)
{
    /// <summary>How many seconds are kept.</summary>
    public const int Kept = 120;

    private readonly ConcurrentDictionary<long, Second> _seconds = new();

    public long Now => time.GetUtcNow().ToUnixTimeSeconds();

    public void Answered() => Interlocked.Increment(ref Get(Now).Answered);

    public void Failed() => Interlocked.Increment(ref Get(Now).Failed);

    public void Took(TimeSpan duration) => Get(Now).Durations.Add(duration);

    /// <summary>Notes the number of calls in flight at the end of the last second.</summary>
    public void Ended(int inFlight) => Volatile.Write(ref Get(Now - 1).InFlight, inFlight);

    /// <summary>The seconds in a range, its end excluded; includes seconds without calls.</summary>
    public IEnumerable<Second> Between(long from, long to)
    {
        for (var number = from; number < to; number++)
        {
            yield return _seconds.GetValueOrDefault(number) ?? new Second(number);
        }
    }

    private Second Get(long number)
    {
        if (_seconds.TryGetValue(number, out var known))
        {
            return known;
        }
        var second = _seconds.GetOrAdd(number, new Second(number));
        foreach (var old in _seconds.Keys.Where(old => old < number - Kept))
        {
            _seconds.TryRemove(old, out _);
        }
        return second;
    }

    internal sealed class Second(long number)
    {
        public int Answered;
        public int Failed;
        public int InFlight;

        /// <summary>Seconds since the Unix epoch.</summary>
        public long Number => number;

        public DurationHistogram Durations { get; } = new();
    }
}

/// <summary>A histogram of durations from a microsecond to two hours, in which a percentile is accurate to about three
/// percent. Thread-safe.</summary>
internal sealed class DurationHistogram
{
    private const long Longest = 7_200_000_000;

    private readonly Lock _gate = new();

    // One significant digit: sixteen buckets to each power of two.
    private readonly IntHistogram _microseconds = new(1, Longest, 1);

    public long Count => _microseconds.TotalCount;

    public void Add(TimeSpan duration)
    {
        lock (_gate)
        {
            _microseconds.RecordValue(Math.Clamp(duration.Ticks / TimeSpan.TicksPerMicrosecond, 0, Longest));
        }
    }

    public static DurationHistogram Sum(IEnumerable<DurationHistogram> parts)
    {
        var sum = new DurationHistogram();
        foreach (var part in parts)
        {
            lock (part._gate)
            {
                sum._microseconds.Add(part._microseconds);
            }
        }
        return sum;
    }

    /// <summary>The duration that a fraction of all durations does not exceed, above 0 and at most 1;
    /// null if none was counted.</summary>
    public TimeSpan? Percentile(double fraction) => Count == 0
        ? null
        : TimeSpan.FromMicroseconds(
            _microseconds.MedianEquivalentValue(_microseconds.GetValueAtPercentile(fraction * 100)));
}
