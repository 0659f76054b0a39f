using HdrHistogram;

namespace Billing.ContractTests.HdrHistogramApi;

/// <summary>What goes in is what comes out, from any number of threads, in bounded memory.</summary>
public class RecordingTests
{
    [Fact]
    public async Task Threads_that_record_at_the_same_time_lose_nothing()
    {
        const int Threads = 8;
        const int Each = 100_000;
        var histogram = new LongConcurrentHistogram(1, Latencies.Highest, 3);

        await Task.WhenAll(Enumerable.Range(0, Threads).Select(thread => Task.Run(() =>
        {
            for (var i = 0; i < Each; i++)
            {
                histogram.RecordValue(i % 100 * 1_000 + 1_000);
            }
        })));

        Assert.Equal(Threads * Each, histogram.TotalCount);
        Assert.All(Enumerable.Range(1, 100), i => Assert.Equal(Threads * Each / 100, histogram.GetCountAtValue(i * 1_000)));
    }

    [Fact]
    public void Adding_one_histogram_to_another_is_recording_its_values_there()
    {
        var first = Filled(new LongHistogram(1, Latencies.Highest, 3), "exponential");
        var second = Filled(new LongConcurrentHistogram(1, Latencies.Highest, 3), "two humps");
        var both = Filled(Filled(new LongHistogram(1, Latencies.Highest, 3), "exponential"), "two humps");

        first.Add(second);

        Assert.Equal(2 * Latencies.Count, first.TotalCount);
        Assert.All(Latencies.Percentiles, p => Assert.Equal(both.GetValueAtPercentile(p), first.GetValueAtPercentile(p)));
        Assert.Equal(both.GetMean(), first.GetMean());
    }

    [Fact]
    public void A_histogram_with_a_wider_range_cannot_be_added()
    {
        var narrow = new LongHistogram(1, 1_000, 3);

        Assert.Throws<ArgumentOutOfRangeException>(() => narrow.Add(new LongHistogram(1, Latencies.Highest, 3)));
    }

    [Fact]
    public void A_copy_stays_as_it_was()
    {
        var histogram = Filled(new LongConcurrentHistogram(1, Latencies.Highest, 3), "exponential");

        var copy = histogram.Copy();
        histogram.RecordValue(Latencies.Highest);

        Assert.Equal(Latencies.Count, copy.TotalCount);
        Assert.Equal(Latencies.Count + 1, histogram.TotalCount);
        Assert.True(copy.GetMaxValue() < histogram.GetMaxValue());
    }

    [Fact]
    public void A_reset_histogram_is_empty()
    {
        var histogram = Filled(new LongConcurrentHistogram(1, Latencies.Highest, 3), "exponential");

        histogram.Reset();

        Assert.Equal(0, histogram.TotalCount);
        Assert.Equal(0, histogram.GetMaxValue());
        Assert.True(double.IsNaN(histogram.GetMean()));
        Assert.Throws<ArgumentOutOfRangeException>(() => histogram.GetValueAtPercentile(50));
    }

    [Fact]
    public void A_count_of_a_value_counts_as_that_many_values()
    {
        var histogram = new LongHistogram(1, Latencies.Highest, 3);

        histogram.RecordValueWithCount(1_000, 99);
        histogram.RecordValue(500_000);

        Assert.Equal(100, histogram.TotalCount);
        Assert.Equal(99, histogram.GetCountAtValue(1_000));
        Assert.Equal(1_000, histogram.GetValueAtPercentile(99));
        Assert.True(histogram.GetValueAtPercentile(99.9) >= 500_000);
    }

    [Fact]
    public void An_expected_interval_adds_the_values_that_a_stall_kept_from_being_measured()
    {
        var histogram = new LongHistogram(1, Latencies.Highest, 3);

        histogram.RecordValueWithExpectedInterval(1_000, 250);

        Assert.Equal(4, histogram.TotalCount);
        Assert.All([1_000L, 750, 500, 250], v => Assert.Equal(1, histogram.GetCountAtValue(v)));
    }

    [Theory, InlineData(2 * Latencies.Highest), InlineData(long.MaxValue), InlineData(-1)]
    public void A_value_outside_the_range_is_refused_and_leaves_no_trace(long value)
    {
        HistogramBase[] histograms =
            [new LongHistogram(1, Latencies.Highest, 3), new LongConcurrentHistogram(1, Latencies.Highest, 3)];

        Assert.All(histograms, histogram =>
        {
            Assert.Throws<IndexOutOfRangeException>(() => histogram.RecordValue(value));
            Assert.Equal(0, histogram.TotalCount);
        });
    }

    [Fact]
    public void The_highest_and_the_lowest_trackable_value_are_taken_and_so_is_zero()
    {
        var histogram = new LongConcurrentHistogram(1, Latencies.Highest, 3);

        Assert.All([0, 1, Latencies.Highest], histogram.RecordValue);

        Assert.Equal(3, histogram.TotalCount);
        Assert.Equal(1, histogram.GetCountAtValue(0));
    }

    [Fact]
    public void Memory_does_not_grow_with_the_number_of_values()
    {
        var histogram = new LongConcurrentHistogram(1, Latencies.Highest, 3);
        var empty = histogram.GetEstimatedFootprintInBytes();

        Filled(histogram, "uniform");

        Assert.Equal(empty, histogram.GetEstimatedFootprintInBytes());
        Assert.InRange(empty, 1, 200_000);
    }

    [Fact]
    public void A_histogram_that_changes_while_it_is_walked_through_says_so()
    {
        var histogram = Filled(new LongConcurrentHistogram(1, Latencies.Highest, 3), "exponential");

        Assert.Throws<InvalidOperationException>(() =>
        {
            foreach (var _ in histogram.RecordedValues())
            {
                histogram.RecordValue(1);
            }
        });
    }

    [Theory, InlineData(0, 100, 3), InlineData(10, 19, 3), InlineData(1, 100, 6), InlineData(1, 100, -1)]
    public void Impossible_ranges_and_precisions_are_refused(long lowest, long highest, int digits) =>
        Assert.Throws<ArgumentException>(() => new LongHistogram(lowest, highest, digits));

    private static T Filled<T>(T histogram, string shape)
        where T : HistogramBase
    {
        foreach (var value in Latencies.Of(shape))
        {
            histogram.RecordValue(value);
        }
        return histogram;
    }
}
