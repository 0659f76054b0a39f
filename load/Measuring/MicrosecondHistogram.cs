using System.Numerics;

namespace Billing.Measuring;

/// <summary>Counts times from a microsecond to a minute, to three significant digits, in bounded memory. Any thread may record
/// at any time.</summary>
/// <remarks>Each of the first 2048 microseconds has a bucket of its own. Above that, each doubling of the time has 1024 buckets,
/// twice as wide as those of the doubling before, so that no bucket is wider than a thousandth of its times.</remarks>
internal sealed class MicrosecondHistogram
{
    /// <summary>The longest time, in microseconds; longer times count as this.</summary>
    public const long Longest = 60_000_000;

    private const int BitsOfFirst = 11;
    private const int CountsPerDoubling = 1 << (BitsOfFirst - 1);

    private readonly long[] _counts = new long[IndexOf(Longest) + 1];

    /// <summary>Records a time, in microseconds, once or several times.</summary>
    public void Record(long microseconds, long times = 1) =>
        Interlocked.Add(ref _counts[IndexOf(Math.Clamp(microseconds, 1, Longest))], times);

    /// <summary>Returns the counts so far.</summary>
    public MicrosecondCounts Read()
    {
        var ranges = new List<MicrosecondRange>();
        for (var index = 0; index < _counts.Length; index++)
        {
            if (Interlocked.Read(ref _counts[index]) is var times and > 0)
            {
                var doubling = DoublingOf(index);
                var lowest = (long)(index - (doubling * CountsPerDoubling)) << doubling;
                ranges.Add(new MicrosecondRange(lowest, lowest + (1L << doubling) - 1, times));
            }
        }
        return new MicrosecondCounts(ranges);
    }

    private static int IndexOf(long microseconds)
    {
        var doubling = Math.Max(0, BitOperations.Log2((ulong)microseconds) + 1 - BitsOfFirst);
        return (doubling * CountsPerDoubling) + (int)(microseconds >> doubling);
    }

    private static int DoublingOf(int index) => Math.Max(0, (index / CountsPerDoubling) - 1);
}

/// <summary>One bucket of a histogram.</summary>
/// <param name="Lowest">The shortest time in it, in microseconds.</param>
/// <param name="Highest">The longest time in it, in microseconds.</param>
/// <param name="Times">Number of times recorded, at least one.</param>
internal readonly record struct MicrosecondRange(long Lowest, long Highest, long Times);

/// <summary>The counts of a histogram at one moment.</summary>
/// <param name="ranges">The buckets that are not empty, shortest first.</param>
internal sealed class MicrosecondCounts(IReadOnlyList<MicrosecondRange> ranges)
{
    /// <summary>The buckets that are not empty, shortest first.</summary>
    public IReadOnlyList<MicrosecondRange> Ranges => ranges;

    /// <summary>Number of times recorded.</summary>
    public long Total { get; } = ranges.Sum(r => r.Times);

    /// <summary>The mean in microseconds, each time taken as the middle of its bucket; NaN if nothing was recorded.</summary>
    public double Mean => (double)ranges.Sum(r => r.Times * ((r.Lowest + r.Highest + 1) / 2)) / Total;

    /// <summary>Returns a percentile in microseconds: the upper end of the bucket that it lies in.</summary>
    /// <exception cref="InvalidOperationException">Nothing was recorded.</exception>
    public long At(double percentile)
    {
        var left = Math.Max(1, (long)((percentile / 100 * Total) + 0.5));
        return ranges.First(r => (left -= r.Times) <= 0).Highest;
    }
}
