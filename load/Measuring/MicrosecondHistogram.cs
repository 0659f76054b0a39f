using System.Numerics;

namespace Billing.Measuring;

/// <summary>Counts times from a microsecond to a minute, to three significant digits, in bounded memory. Any thread may record
/// at any time.</summary>
/// <remarks>The first 2048 microseconds have a count each. From there on each doubling of the times has 1024 counts, each for a
/// range twice as wide as in the doubling before, so that no range is wider than a thousandth of its times.</remarks>
internal sealed class MicrosecondHistogram
{
    /// <summary>What takes longer, in microseconds, counts as this.</summary>
    public const long Longest = 60_000_000;

    private const int BitsOfFirst = 11;
    private const int CountsPerDoubling = 1 << (BitsOfFirst - 1);

    private readonly long[] _counts = new long[IndexOf(Longest) + 1];

    /// <summary>Counts a time, in microseconds, once or several times.</summary>
    public void Record(long microseconds, long times = 1) =>
        Interlocked.Add(ref _counts[IndexOf(Math.Clamp(microseconds, 1, Longest))], times);

    /// <summary>What was counted by now.</summary>
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

/// <summary>Times that are not told apart.</summary>
/// <param name="Lowest">The shortest of them, in microseconds.</param>
/// <param name="Highest">The longest of them, in microseconds.</param>
/// <param name="Times">How many were counted, at least one.</param>
internal readonly record struct MicrosecondRange(long Lowest, long Highest, long Times);

/// <summary>What a histogram held at one moment.</summary>
/// <param name="ranges">Ranges in which something was counted, shortest first.</param>
internal sealed class MicrosecondCounts(IReadOnlyList<MicrosecondRange> ranges)
{
    /// <summary>Ranges in which something was counted, shortest first.</summary>
    public IReadOnlyList<MicrosecondRange> Ranges => ranges;

    /// <summary>How many times were counted.</summary>
    public long Total { get; } = ranges.Sum(r => r.Times);

    /// <summary>The mean in microseconds, each time taken as the middle of its range; NaN where nothing was counted.</summary>
    public double Mean => (double)ranges.Sum(r => r.Times * ((r.Lowest + r.Highest + 1) / 2)) / Total;

    /// <summary>The time in microseconds that so many of a hundred do not exceed: the top of the range that it lies in.</summary>
    /// <exception cref="InvalidOperationException">Nothing was counted.</exception>
    public long At(double percentile)
    {
        var left = Math.Max(1, (long)((percentile / 100 * Total) + 0.5));
        return ranges.First(r => (left -= r.Times) <= 0).Highest;
    }
}
