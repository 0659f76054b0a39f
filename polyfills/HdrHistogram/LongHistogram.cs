namespace HdrHistogram;

public class LongHistogram : HistogramBase
{
    private readonly long[] _counts;
    private long _totalCount;

    public LongHistogram(long highestTrackableValue, int numberOfSignificantValueDigits)
        : this(1, highestTrackableValue, numberOfSignificantValueDigits)
    {
    }

    public LongHistogram(long lowestTrackableValue, long highestTrackableValue, int numberOfSignificantValueDigits)
        : base(lowestTrackableValue, highestTrackableValue, numberOfSignificantValueDigits) =>
        _counts = new long[CountsArrayLength];

    public LongHistogram(
        long instanceId, long lowestTrackableValue, long highestTrackableValue, int numberOfSignificantValueDigits)
        : base(instanceId, lowestTrackableValue, highestTrackableValue, numberOfSignificantValueDigits) =>
        _counts = new long[CountsArrayLength];

    public override long TotalCount
    {
        get => _totalCount;
        protected set => _totalCount = value;
    }

    protected override int WordSizeInBytes => sizeof(long);

    public override HistogramBase Copy()
    {
        var copy = new LongHistogram(LowestTrackableValue, HighestTrackableValue, NumberOfSignificantValueDigits);
        copy.Add(this);
        return copy;
    }

    protected override long GetCountAtIndex(int index) => _counts[index];

    protected override void IncrementCountAtIndex(int index)
    {
        _counts[index]++;
        _totalCount++;
    }

    protected override void AddToCountAtIndex(int index, long addend)
    {
        _counts[index] += addend;
        _totalCount += addend;
    }

    protected override void ClearCounts()
    {
        Array.Clear(_counts);
        _totalCount = 0;
    }
}
