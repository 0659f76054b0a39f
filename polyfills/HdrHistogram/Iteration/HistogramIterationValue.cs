namespace HdrHistogram.Iteration;

/// <summary>One object for a whole enumeration, as in the genuine package: read it before the next step.</summary>
public sealed class HistogramIterationValue
{
    internal HistogramIterationValue()
    {
    }

    public long ValueIteratedTo { get; internal set; }

    public long ValueIteratedFrom { get; internal set; }

    public long CountAtValueIteratedTo { get; internal set; }

    public long CountAddedInThisIterationStep { get; internal set; }

    public long TotalCountToThisValue { get; internal set; }

    public long TotalValueToThisValue { get; internal set; }

    public double Percentile { get; internal set; }

    public double PercentileLevelIteratedTo { get; internal set; }

    public bool IsLastValue() => PercentileLevelIteratedTo == 100.0;
}
