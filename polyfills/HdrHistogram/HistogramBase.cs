using HdrHistogram.Iteration;

namespace HdrHistogram;

public abstract class HistogramBase : IRecorder
{
    private static long _instances;

    private readonly CountsLayout _layout;

    protected HistogramBase(long lowestTrackableValue, long highestTrackableValue, int numberOfSignificantValueDigits)
        : this(Interlocked.Decrement(ref _instances), lowestTrackableValue, highestTrackableValue, numberOfSignificantValueDigits)
    {
    }

    protected HistogramBase(
        long instanceId, long lowestTrackableValue, long highestTrackableValue, int numberOfSignificantValueDigits)
    {
        if (lowestTrackableValue < 1)
        {
            throw new ArgumentException("lowestTrackableValue must be >= 1", nameof(lowestTrackableValue));
        }
        if (highestTrackableValue / 2 < lowestTrackableValue)
        {
            throw new ArgumentException("highestTrackableValue must be >= 2 * lowestTrackableValue", nameof(highestTrackableValue));
        }
        if (numberOfSignificantValueDigits is < 0 or > 5)
        {
            throw new ArgumentException("numberOfSignificantValueDigits must be between 0 and 5", nameof(numberOfSignificantValueDigits));
        }
        InstanceId = instanceId;
        LowestTrackableValue = lowestTrackableValue;
        HighestTrackableValue = highestTrackableValue;
        NumberOfSignificantValueDigits = numberOfSignificantValueDigits;
        _layout = new CountsLayout(lowestTrackableValue, highestTrackableValue, numberOfSignificantValueDigits);
    }

    public long InstanceId { get; }

    public long HighestTrackableValue { get; }

    public long LowestTrackableValue { get; }

    public int NumberOfSignificantValueDigits { get; }

    public long StartTimeStamp { get; set; }

    public long EndTimeStamp { get; set; }

    public abstract long TotalCount { get; protected set; }

    public int BucketCount => _layout.BucketCount;

    public int SubBucketCount => _layout.SubBucketCount;

    internal int CountsArrayLength => _layout.Length;

    protected abstract int WordSizeInBytes { get; }

    public abstract HistogramBase Copy();

    public void RecordValue(long value) => IncrementCountAtIndex(_layout.IndexOf(value));

    public void RecordValueWithCount(long value, long count) => AddToCountAtIndex(_layout.IndexOf(value), count);

    public void RecordValueWithExpectedInterval(long value, long expectedIntervalBetweenValueSamples)
    {
        RecordValue(value);
        if (expectedIntervalBetweenValueSamples <= 0)
        {
            return;
        }
        for (var missed = value - expectedIntervalBetweenValueSamples; missed >= expectedIntervalBetweenValueSamples;
            missed -= expectedIntervalBetweenValueSamples)
        {
            RecordValue(missed);
        }
    }

    public void Reset() => ClearCounts();

    public virtual void Add(HistogramBase fromHistogram)
    {
        if (fromHistogram.HighestTrackableValue > HighestTrackableValue)
        {
            throw new ArgumentOutOfRangeException(
                nameof(fromHistogram),
                $"The other histogram covers a wider range ({fromHistogram.HighestTrackableValue}) than this one ({HighestTrackableValue}).");
        }
        for (var index = 0; index < fromHistogram.CountsArrayLength; index++)
        {
            if (fromHistogram.GetCountAtIndex(index) is var count and not 0)
            {
                RecordValueWithCount(fromHistogram._layout.LowestAt(index), count);
            }
        }
    }

    public long SizeOfEquivalentValueRange(long value) => _layout.WidthAround(value);

    public long LowestEquivalentValue(long value) => _layout.LowestAt(_layout.IndexOf(value));

    public long MedianEquivalentValue(long value) => LowestEquivalentValue(value) + (SizeOfEquivalentValueRange(value) >> 1);

    public long NextNonEquivalentValue(long value) => LowestEquivalentValue(value) + SizeOfEquivalentValueRange(value);

    public long GetValueAtPercentile(double percentile)
    {
        var wanted = Math.Max(1, (long)(Math.Min(percentile, 100.0) / 100.0 * TotalCount + 0.5));
        var seen = 0L;
        for (var index = 0; index < CountsArrayLength; index++)
        {
            seen += GetCountAtIndex(index);
            if (seen >= wanted)
            {
                return this.HighestEquivalentValue(_layout.LowestAt(index));
            }
        }
        throw new ArgumentOutOfRangeException(nameof(percentile), "percentile value not found in range");
    }

    public long GetCountAtValue(long value) => GetCountAtIndex(_layout.IndexOf(value));

    public IEnumerable<HistogramIterationValue> RecordedValues() => Recorded.Of(this);

    public virtual int GetEstimatedFootprintInBytes() => 512 + WordSizeInBytes * CountsArrayLength;

    internal long CountAt(int index) => GetCountAtIndex(index);

    internal long LowestAt(int index) => _layout.LowestAt(index);

    protected abstract long GetCountAtIndex(int index);

    protected abstract void IncrementCountAtIndex(int index);

    protected abstract void AddToCountAtIndex(int index, long addend);

    protected abstract void ClearCounts();
}
