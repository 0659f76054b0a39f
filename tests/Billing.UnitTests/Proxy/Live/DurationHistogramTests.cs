using Billing.Proxy.Live;

namespace Billing.UnitTests.Proxy.Live;

public sealed class DurationHistogramTests
{
    [Fact]
    public void An_empty_histogram_has_no_percentile() => Assert.Null(new DurationHistogram().Percentile(0.5));

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(15)]
    [InlineData(16)]
    [InlineData(17)]
    [InlineData(1_234)]
    [InlineData(999_999)]
    [InlineData(30_000_000)]
    [InlineData(3_600_000_000)]
    public void A_percentile_is_within_3_5_percent_of_the_recorded_duration(long microseconds)
    {
        var histogram = new DurationHistogram();

        histogram.Add(TimeSpan.FromMicroseconds(microseconds));

        var found = histogram.Percentile(1)!.Value.TotalMicroseconds;
        Assert.InRange(found, microseconds * 0.965, Math.Max(microseconds * 1.035, microseconds));
    }

    [Fact]
    public void Durations_out_of_range_are_counted_in_the_first_and_last_bucket()
    {
        var histogram = new DurationHistogram();

        histogram.Add(TimeSpan.FromSeconds(-1));
        histogram.Add(TimeSpan.MaxValue);

        Assert.Equal(2, histogram.Count);
        Assert.Equal(TimeSpan.Zero, histogram.Percentile(0.5));
    }

    [Fact]
    public void The_percentiles_of_a_thousand_durations_are_those_of_the_sorted_list()
    {
        var (low, high) = (new DurationHistogram(), new DurationHistogram());
        for (var ms = 1; ms <= 1000; ms++)
        {
            (ms <= 500 ? low : high).Add(TimeSpan.FromMilliseconds(ms));
        }
        var both = DurationHistogram.Sum([low, high]);

        Assert.Equal(1000, both.Count);
        Assert.All(((double, double)[])[(0.001, 1), (0.5, 500), (0.95, 950), (0.99, 990), (1, 1000)], part =>
            Assert.InRange(
                both.Percentile(part.Item1)!.Value.TotalMilliseconds, part.Item2 * 0.965, part.Item2 * 1.035));
    }
}
