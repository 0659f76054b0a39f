using System.Numerics;

namespace HdrHistogram;

/// <summary>Where the count of a value lies. Values are measured in units (the lowest trackable value, rounded down to a
/// power of two). The first bucket counts each unit by itself, up to a power of two that gives the wanted digits; each
/// further bucket spans the next doubling of the values with half as many counts, each for a range twice as wide.</summary>
internal readonly struct CountsLayout
{
    private readonly int _unitBits;
    private readonly int _subBucketBits;

    public CountsLayout(long lowest, long highest, int digits)
    {
        _unitBits = BitOperations.Log2((ulong)lowest);
        // Twice the power of ten, as the counts of all buckets but the first start at half of theirs.
        var distinct = 2UL;
        for (var digit = 0; digit < digits; digit++)
        {
            distinct *= 10;
        }
        _subBucketBits = Math.Max(1, BitOperations.Log2(BitOperations.RoundUpToPowerOf2(distinct)));
        SubBucketCount = 1 << _subBucketBits;
        BucketCount = 1;
        for (var covered = (SubBucketCount - 1L) << _unitBits; covered < highest && covered > 0; covered <<= 1)
        {
            BucketCount++;
        }
    }

    public int BucketCount { get; }

    public int SubBucketCount { get; }

    public int Length => (BucketCount + 1) * Half;

    private int Half => SubBucketCount / 2;

    /// <summary>Not within the array for a value that is negative or too high.</summary>
    public int IndexOf(long value)
    {
        var bucket = BucketOf(value);
        return bucket * Half + (int)(value >>> (bucket + _unitBits));
    }

    public long LowestAt(int index)
    {
        var bucket = Math.Max(0, index / Half - 1);
        return (long)(index - bucket * Half) << (bucket + _unitBits);
    }

    public long WidthAround(long value) => 1L << (BucketOf(value) + _unitBits);

    private int BucketOf(long value) =>
        Math.Max(0, 64 - BitOperations.LeadingZeroCount((ulong)value) - _subBucketBits - _unitBits);
}
