namespace HdrHistogram.Iteration;

/// <summary>Walks through a histogram's counts, from the lowest value to the highest recorded one.</summary>
internal static class Recorded
{
    /// <summary>One step for each count that is not zero.</summary>
    public static IEnumerable<HistogramIterationValue> Of(HistogramBase histogram)
    {
        var total = histogram.TotalCount;
        var step = new HistogramIterationValue();
        for (var index = 0; step.TotalCountToThisValue < total && index < histogram.CountsArrayLength; index++)
        {
            RequireUnchanged(histogram, total);
            if (histogram.CountAt(index) is var count and not 0)
            {
                var lowest = histogram.LowestAt(index);
                step.ValueIteratedFrom = step.ValueIteratedTo;
                step.ValueIteratedTo = histogram.HighestEquivalentValue(lowest);
                step.CountAtValueIteratedTo = count;
                step.CountAddedInThisIterationStep = count;
                step.TotalCountToThisValue += count;
                step.TotalValueToThisValue += count * histogram.MedianEquivalentValue(lowest);
                step.Percentile = 100.0 * step.TotalCountToThisValue / total;
                step.PercentileLevelIteratedTo = step.Percentile;
                yield return step;
            }
        }
    }

    /// <summary>Steps that come closer with each halving of the distance to 100 %, then 100 % itself.</summary>
    public static IEnumerable<HistogramIterationValue> ByPercentile(HistogramBase histogram, int ticksPerHalfDistance)
    {
        var step = new HistogramIterationValue();
        var level = 0.0;
        foreach (var recorded in Of(histogram))
        {
            step.CountAtValueIteratedTo = recorded.CountAtValueIteratedTo;
            step.TotalValueToThisValue = recorded.TotalValueToThisValue;
            step.Percentile = recorded.Percentile;
            // Where nothing is left after this value, a last step at 100 % closes the enumeration instead.
            while (recorded.Percentile >= level && step.TotalCountToThisValue < histogram.TotalCount)
            {
                Reach(step, recorded, level);
                yield return step;
                var halvings = (long)Math.Log2(100.0 / (100.0 - level)) + 1;
                level += 100.0 / (ticksPerHalfDistance * Math.Pow(2, halvings));
            }
        }
        if (step.TotalCountToThisValue > 0)
        {
            step.CountAddedInThisIterationStep = 0;
            step.ValueIteratedFrom = step.ValueIteratedTo;
            step.PercentileLevelIteratedTo = 100.0;
            yield return step;
        }
    }

    private static void Reach(HistogramIterationValue step, HistogramIterationValue recorded, double level)
    {
        step.ValueIteratedFrom = step.ValueIteratedTo;
        step.ValueIteratedTo = recorded.ValueIteratedTo;
        step.CountAddedInThisIterationStep = recorded.TotalCountToThisValue - step.TotalCountToThisValue;
        step.TotalCountToThisValue = recorded.TotalCountToThisValue;
        step.PercentileLevelIteratedTo = level;
    }

    private static void RequireUnchanged(HistogramBase histogram, long total)
    {
        if (histogram.TotalCount != total)
        {
            throw new InvalidOperationException("Source has been modified during enumeration.");
        }
    }
}
