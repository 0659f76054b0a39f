using System.Numerics;

namespace Billing.Proxy.Live;

/// <summary>A histogram of durations with sixteen buckets to each power of two of microseconds, so that a percentile is accurate
/// to about three percent from a microsecond to hours. Histograms can be added. Thread-safe.</summary>
internal sealed class DurationHistogram
{
    private const int BucketBits = 4;
    private const int BucketsPerOctave = 1 << BucketBits;
    private const int Octaves = 32;

    private readonly int[] _counts = new int[BucketsPerOctave * (Octaves + 1)];

    /// <summary>Counts one duration.</summary>
    public void Add(TimeSpan duration) => Interlocked.Increment(ref _counts[Bucket(duration.Ticks / TimeSpan.TicksPerMicrosecond)]);

    /// <summary>Adds the counts of another histogram.</summary>
    public void Add(DurationHistogram other)
    {
        for (var i = 0; i < _counts.Length; i++)
        {
            _counts[i] += Volatile.Read(ref other._counts[i]);
        }
    }

    /// <summary>Number of durations counted.</summary>
    public long Count => _counts.Sum(count => (long)count);

    /// <summary>The duration that a fraction of all durations does not exceed; null if none was counted.</summary>
    /// <param name="part">The fraction: above 0, at most 1.</param>
    public TimeSpan? Percentile(double part)
    {
        var left = (long)Math.Ceiling(Count * part);
        if (left == 0)
        {
            return null;
        }
        var bucket = -1;
        while (left > 0 && bucket < _counts.Length - 1)
        {
            left -= _counts[++bucket];
        }
        return TimeSpan.FromMicroseconds(Middle(bucket));
    }

    private static int Bucket(long microseconds)
    {
        var value = Math.Max(0, microseconds);
        var octave = Math.Max(0, BitOperations.Log2((ulong)value) - BucketBits + 1);
        if (octave == 0)
        {
            return (int)value;
        }
        var within = (int)(value >> (octave - 1)) - BucketsPerOctave;
        return Math.Min((octave * BucketsPerOctave) + within, (BucketsPerOctave * (Octaves + 1)) - 1);
    }

    private static double Middle(int bucket)
    {
        var octave = bucket / BucketsPerOctave;
        if (octave == 0)
        {
            return bucket;
        }
        var width = 1L << (octave - 1);
        return ((BucketsPerOctave + (bucket % BucketsPerOctave)) * width) + ((width - 1) / 2.0);
    }
}
