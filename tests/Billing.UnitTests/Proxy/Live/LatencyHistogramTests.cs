using Billing.Proxy.Live;

namespace Billing.UnitTests.Proxy.Live;

public sealed class LatencyHistogramTests
{
    [Fact]
    public void Nothing_has_no_percentile() => Assert.Null(new LatencyHistogram().Percentile(0.5));

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
    public void A_duration_is_found_again_within_three_percent_and_a_half(long microseconds)
    {
        var histogram = new LatencyHistogram();

        histogram.Add(TimeSpan.FromMicroseconds(microseconds));

        var found = histogram.Percentile(1)!.Value.TotalMicroseconds;
        Assert.InRange(found, microseconds * 0.965, Math.Max(microseconds * 1.035, microseconds));
    }

    [Fact]
    public void Durations_out_of_all_bounds_are_counted_at_the_ends()
    {
        var histogram = new LatencyHistogram();

        histogram.Add(TimeSpan.FromSeconds(-1));
        histogram.Add(TimeSpan.MaxValue);

        Assert.Equal(2, histogram.Count);
        Assert.Equal(TimeSpan.Zero, histogram.Percentile(0.5));
    }

    [Fact]
    public void Percentiles_of_a_thousand_are_those_of_the_sorted_list()
    {
        var (low, high, both) = (new LatencyHistogram(), new LatencyHistogram(), new LatencyHistogram());
        for (var ms = 1; ms <= 1000; ms++)
        {
            (ms <= 500 ? low : high).Add(TimeSpan.FromMilliseconds(ms));
        }
        both.Add(low);
        both.Add(high);

        Assert.Equal(1000, both.Count);
        Assert.All(((double, double)[])[(0.001, 1), (0.5, 500), (0.95, 950), (0.99, 990), (1, 1000)], part =>
            Assert.InRange(both.Percentile(part.Item1)!.Value.TotalMilliseconds, part.Item2 * 0.965, part.Item2 * 1.035));
    }
}
