namespace HdrHistogram;

/// <summary>Any thread may record at any time. Reading while others record is exact only from a
/// <see cref="HistogramBase.Copy"/>, as with the genuine class.</summary>
public class LongConcurrentHistogram : HistogramBase
{
    private readonly long[] _counts;
    private long _totalCount;

    public LongConcurrentHistogram(long lowestTrackableValue, long highestTrackableValue, int numberOfSignificantValueDigits)
        : base(lowestTrackableValue, highestTrackableValue, numberOfSignificantValueDigits) =>
        _counts = new long[CountsArrayLength];

    public LongConcurrentHistogram(
        long instanceId, long lowestTrackableValue, long highestTrackableValue, int numberOfSignificantValueDigits)
        : base(instanceId, lowestTrackableValue, highestTrackableValue, numberOfSignificantValueDigits) =>
        _counts = new long[CountsArrayLength];

    public override long TotalCount
    {
        get => Interlocked.Read(ref _totalCount);
        protected set => Interlocked.Exchange(ref _totalCount, value);
    }

    protected override int WordSizeInBytes => sizeof(long);

    public override HistogramBase Copy()
    {
        var copy = new LongConcurrentHistogram(InstanceId, LowestTrackableValue, HighestTrackableValue, NumberOfSignificantValueDigits);
        copy.Add(this);
        return copy;
    }

    protected override long GetCountAtIndex(int index) => Interlocked.Read(ref _counts[index]);

    protected override void IncrementCountAtIndex(int index)
    {
        Interlocked.Increment(ref _counts[index]);
        Interlocked.Increment(ref _totalCount);
    }

    protected override void AddToCountAtIndex(int index, long addend)
    {
        Interlocked.Add(ref _counts[index], addend);
        Interlocked.Add(ref _totalCount, addend);
    }

    protected override void ClearCounts()
    {
        for (var index = 0; index < _counts.Length; index++)
        {
            Interlocked.Exchange(ref _counts[index], 0);
        }
        TotalCount = 0;
    }
}
