using HdrHistogram;

namespace Billing.ContractTests.HdrHistogramApi;

/// <summary>Three digits mean: within a thousandth of what sorting all values gives.</summary>
public class PrecisionTests
{
    private const double Thousandth = 0.001;

    public static TheoryData<string> Shapes { get; } =
        ["uniform", "log-uniform", "exponential", "two humps", "microseconds", "one value"];

    [Theory, MemberData(nameof(Shapes))]
    public void Every_percentile_is_within_a_thousandth_of_the_exact_one(string shape)
    {
        var (histogram, sorted) = Recorded(shape);

        foreach (var percentile in Latencies.Percentiles)
        {
            var exact = sorted[(int)Math.Ceiling(Math.Round(percentile / 100 * sorted.Length, 6)) - 1];
            var answered = histogram.GetValueAtPercentile(percentile);
            Assert.True(Math.Abs(answered - exact) <= Thousandth * exact, $"p{percentile}: {answered} for {exact}");
        }
    }

    [Theory, MemberData(nameof(Shapes))]
    public void Maximum_mean_and_deviation_are_within_a_thousandth_of_the_exact_ones(string shape)
    {
        var (histogram, sorted) = Recorded(shape);
        var mean = sorted.Average();
        var deviation = Math.Sqrt(sorted.Average(v => (v - mean) * (v - mean)));

        Assert.Equal(sorted.Length, histogram.TotalCount);
        Assert.InRange(histogram.GetMaxValue(), sorted[^1], sorted[^1] * (1 + Thousandth));
        Assert.InRange(histogram.GetMean(), mean * (1 - Thousandth), mean * (1 + Thousandth));
        Assert.InRange(histogram.GetStdDeviation() - deviation, -Thousandth * (mean + deviation), Thousandth * (mean + deviation));
    }

    [Theory, MemberData(nameof(Shapes))]
    public void The_recorded_values_add_up_to_all_of_them(string shape)
    {
        var (histogram, sorted) = Recorded(shape);

        var counted = 0L;
        var previous = -1L;
        foreach (var step in histogram.RecordedValues())
        {
            var inStep = sorted.Count(v => v >= histogram.LowestEquivalentValue(step.ValueIteratedTo) && v <= step.ValueIteratedTo);
            Assert.Equal(inStep, step.CountAtValueIteratedTo);
            Assert.True(step.ValueIteratedTo > previous);
            previous = step.ValueIteratedTo;
            counted += step.CountAddedInThisIterationStep;
            Assert.Equal(counted, step.TotalCountToThisValue);
            if (counted > 2_000)
            {
                break;
            }
        }
        Assert.Equal(sorted.Length, histogram.RecordedValues().Sum(s => s.CountAddedInThisIterationStep));
    }

    [Fact]
    public void Percentile_steps_end_at_a_hundred_with_the_maximum()
    {
        var (histogram, _) = Recorded("exponential");

        var levels = new List<(double Level, long Value, long Count)>();
        foreach (var step in histogram.Percentiles(5))
        {
            levels.Add((step.PercentileLevelIteratedTo, step.ValueIteratedTo, step.TotalCountToThisValue));
        }

        Assert.Equal([0, 10, 20, 30, 40, 50, 55, 60], levels.Take(8).Select(l => Math.Round(l.Level, 9)));
        Assert.Equal((100, histogram.GetMaxValue(), histogram.TotalCount), levels[^1]);
        Assert.Equal(levels.OrderBy(l => l.Level), levels);
        Assert.All(levels, l => Assert.InRange(100.0 * l.Count / histogram.TotalCount, l.Level - 1e-9, 100));
    }

    private static (HistogramBase Histogram, long[] Sorted) Recorded(string shape)
    {
        var values = Latencies.Of(shape);
        var histogram = new LongHistogram(Latencies.Lowest, Latencies.Highest, 3);
        foreach (var value in values)
        {
            histogram.RecordValue(value);
        }
        return (histogram, [.. values.Order()]);
    }
}
