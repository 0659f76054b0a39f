using HdrHistogram.Iteration;

namespace HdrHistogram;

public static class HistogramExtensions
{
    public static long GetMaxValue(this HistogramBase histogram)
    {
        var max = 0L;
        foreach (var recorded in histogram.RecordedValues())
        {
            max = recorded.ValueIteratedTo;
        }
        return histogram.HighestEquivalentValue(max);
    }

    public static double GetMean(this HistogramBase histogram)
    {
        var sum = 0L;
        foreach (var recorded in histogram.RecordedValues())
        {
            sum = recorded.TotalValueToThisValue;
        }
        return (double)sum / histogram.TotalCount;
    }

    public static double GetStdDeviation(this HistogramBase histogram)
    {
        var mean = histogram.GetMean();
        var squares = 0.0;
        foreach (var recorded in histogram.RecordedValues())
        {
            var deviation = histogram.MedianEquivalentValue(recorded.ValueIteratedTo) - mean;
            squares += deviation * deviation * recorded.CountAddedInThisIterationStep;
        }
        return Math.Sqrt(squares / histogram.TotalCount);
    }

    public static long HighestEquivalentValue(this HistogramBase histogram, long value) =>
        histogram.NextNonEquivalentValue(value) - 1;

    public static void CopyInto(this HistogramBase source, HistogramBase targetHistogram)
    {
        targetHistogram.Reset();
        targetHistogram.Add(source);
        targetHistogram.StartTimeStamp = source.StartTimeStamp;
        targetHistogram.EndTimeStamp = source.EndTimeStamp;
    }

    public static IEnumerable<HistogramIterationValue> Percentiles(this HistogramBase histogram, int percentileTicksPerHalfDistance) =>
        Recorded.ByPercentile(histogram, percentileTicksPerHalfDistance);
}
