using Billing.Driver.Metering;

namespace Billing.UnitTests.Driver;

/// <summary>With three significant digits, every figure is within 0.1 % of the exact one from
/// the sorted values.</summary>
public sealed class LatencyHistogramTests
{
    private const double Thousandth = 0.001;

    public static TheoryData<string> Shapes { get; } =
        ["uniform", "log-uniform", "exponential", "two humps", "microseconds", "one value"];

    [Theory, MemberData(nameof(Shapes))]
    public void Every_figure_is_within_a_thousandth_of_the_exact_value(string shape)
    {
        var values = Latencies.Of(shape);
        var sorted = values.Order().Select(us => us / 1000.0).ToArray();

        var figures = Filled(values).Figures();

        (double Percent, double AnsweredMs)[] percentiles =
            [
                (50, figures.P50Ms), (75, figures.P75Ms), (90, figures.P90Ms), (95, figures.P95Ms), (99, figures.P99Ms),
                (99.9, figures.P999Ms), (100, figures.MaxMs),
            ];
        foreach (var (percent, answered) in percentiles)
        {
            var exact = sorted[(int)Math.Ceiling(Math.Round(percent / 100 * sorted.Length, 6)) - 1];
            Assert.InRange(answered, exact, exact * (1 + Thousandth));
        }
        Assert.InRange(figures.MinMs, sorted[0], sorted[0] * (1 + Thousandth));
        Assert.InRange(figures.MeanMs, sorted.Average() * (1 - Thousandth), sorted.Average() * (1 + Thousandth));
    }

    [Theory, MemberData(nameof(Shapes))]
    public void Each_count_is_the_number_of_values_in_its_range(string shape)
    {
        var values = Latencies.Of(shape);

        var counts = Filled(values).Counts();

        Assert.Equal(values.Length, counts.Sum(c => c.Requests));
        Assert.Equal(counts.OrderBy(c => c.Microseconds), counts);
        var previous = 0L;
        foreach (var count in counts.Take(2_000))
        {
            Assert.Equal(values.Count(v => v > previous && v <= count.Microseconds), count.Requests);
            previous = count.Microseconds;
        }
    }

    [Fact]
    public void Up_to_two_milliseconds_every_microsecond_has_its_own_count()
    {
        var histogram = Filled(Enumerable.Range(1, 2_047).Select(us => (long)us));

        Assert.Equal(Enumerable.Range(1, 2_047).Select(us => new LatencyCount(us, 1)), histogram.Counts());
    }

    [Fact]
    public async Task Values_recorded_concurrently_are_all_counted()
    {
        const int Threads = 8;
        const int Each = 100_000;
        var histogram = new LatencyHistogram();

        await Task.WhenAll(Enumerable.Range(0, Threads).Select(_ => Task.Run(() =>
        {
            for (var i = 0; i < Each; i++)
            {
                histogram.Record((i % 100) + 1);
            }
        })));

        Assert.Equal(
            Enumerable.Range(1, 100).Select(us => new LatencyCount(us, Threads * Each / 100)), histogram.Counts());
    }

    [Fact]
    public void Adding_the_counts_of_another_histogram_equals_recording_its_values()
    {
        var first = Latencies.Of("exponential");
        var second = Latencies.Of("two humps");
        var sum = Filled(first);

        sum.Add(Filled(second).Counts());

        Assert.Equal(Filled(first.Concat(second)).Counts(), sum.Counts());
        Assert.Equal(Filled(first.Concat(second)).Figures(), sum.Figures());
    }

    [Fact]
    public void Latencies_are_limited_to_the_range_from_one_microsecond_to_one_hour()
    {
        var histogram = new LatencyHistogram();

        histogram.Record(7_200_000_000);
        histogram.Record(0);

        var figures = histogram.Figures();
        Assert.Equal(0.001, figures.MinMs);
        Assert.InRange(figures.MaxMs, 3_600_000, 3_600_000 * (1 + Thousandth));
    }

    [Fact]
    public void An_empty_histogram_has_no_counts_and_all_its_figures_are_zero()
    {
        Assert.Empty(new LatencyHistogram().Counts());
        Assert.Equal(new LatencyFigures(0, 0, 0, 0, 0, 0, 0, 0, 0), new LatencyHistogram().Figures());
    }

    private static LatencyHistogram Filled(IEnumerable<long> microseconds)
    {
        var histogram = new LatencyHistogram();
        foreach (var value in microseconds)
        {
            histogram.Record(value);
        }
        return histogram;
    }
}
