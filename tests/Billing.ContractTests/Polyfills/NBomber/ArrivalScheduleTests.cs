using NBomber.Domain;

namespace Billing.ContractTests.Polyfills.NBomber;

/// <summary>Every arrival against the formula, computed another way.</summary>
public class ArrivalScheduleTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory, InlineData(1, 1), InlineData(7, 3), InlineData(300, 5), InlineData(20_000, 2)]
    public void A_constant_rate_spaces_its_calls_evenly(int rate, int seconds)
    {
        var arrivals = ArrivalSchedule.Constant(rate, Second, seconds * Second).ToList();

        Assert.Equal(rate * seconds, arrivals.Count);
        Assert.All(arrivals.Index(), a => Assert.Equal((long)((decimal)a.Index * TimeSpan.TicksPerSecond / rate), a.Item.Ticks));
    }

    [Fact]
    public void The_interval_scales_the_rate()
    {
        var arrivals = ArrivalSchedule.Constant(3, TimeSpan.FromMinutes(1), TimeSpan.FromMinutes(2)).ToList();

        Assert.Equal([0, 20, 40, 60, 80, 100], arrivals.Select(a => a.TotalSeconds));
    }

    [Fact]
    public void A_rate_that_does_not_divide_the_second_does_not_drift()
    {
        var arrivals = ArrivalSchedule.Constant(7, Second, 10_000 * Second).Where((_, k) => k % 7 == 0);

        Assert.All(arrivals.Index(), a => Assert.Equal(a.Index * Second, a.Item));
    }

    [Fact]
    public void Iterations_end_with_their_number()
    {
        var arrivals = ArrivalSchedule.Iterations(4, Second, 10).ToList();

        Assert.Equal([0, .25, .5, .75, 1, 1.25, 1.5, 1.75, 2, 2.25], arrivals.Select(a => a.TotalSeconds));
    }

    [Theory]
    [InlineData(0, 100, 10)]
    [InlineData(100, 500, 20)]
    [InlineData(500, 100, 20)]
    [InlineData(250, 250, 4)]
    [InlineData(300, 0, 6)]
    public void Along_a_ramp_the_integral_of_the_rate_counts_the_calls(int from, int to, int seconds)
    {
        var during = seconds * Second;

        var arrivals = ArrivalSchedule.Ramp(from, to, Second, during).ToList();

        Assert.Equal((from + to) * seconds / 2, arrivals.Count);
        Assert.All(arrivals.Index(), a => Assert.Equal(a.Index, Integral(a.Item.TotalSeconds), 1e-3));
        Assert.Equal(arrivals.Order(), arrivals);
        Assert.All(arrivals, a => Assert.InRange(a, TimeSpan.Zero, during));

        double Integral(double t) => from * t + (to - from) * t * t / (2 * seconds);
    }

    [Fact]
    public void Each_second_of_a_ramp_has_the_calls_of_its_mean_rate()
    {
        var arrivals = ArrivalSchedule.Ramp(100, 500, Second, 20 * Second).ToList();

        for (var second = 0; second < 20; second++)
        {
            var expected = 100 + 20 * (second + 0.5);
            Assert.InRange(arrivals.Count(a => (int)a.TotalSeconds == second), expected - 1, expected + 1);
        }
    }

    [Fact]
    public void A_drawn_rate_holds_for_its_interval_and_keeps_within_its_bounds()
    {
        var arrivals = ArrivalSchedule.Drawn(10, 20, Second, 50 * Second, new Random(1)).ToList();

        var counts = arrivals.CountBy(a => (int)a.TotalSeconds).Select(c => c.Value).ToList();
        Assert.Equal(50, counts.Count);
        Assert.All(counts, c => Assert.InRange(c, 10, 20));
        Assert.True(counts.Distinct().Count() > 3);
        Assert.Equal(arrivals.Order(), arrivals);
    }

    [Fact]
    public void A_drawn_rate_of_zero_calls_nobody() =>
        Assert.Empty(ArrivalSchedule.Drawn(0, 0, Second, 10 * Second, new Random(1)));

    [Theory, InlineData(0, 5), InlineData(5, 0), InlineData(3, 3), InlineData(2, 10)]
    public void Copies_go_to_their_target_one_by_one(int from, int to)
    {
        var changes = CopySchedule.Ramp(from, to, 10 * Second).ToList();

        Assert.Equal(Math.Abs(to - from), changes.Count);
        Assert.All(changes.Index(), c => Assert.Equal(from + (c.Index + 1) * Math.Sign(to - from), c.Item.Copies));
        Assert.All(changes.Index(), c => Assert.Equal(10.0 * c.Index / changes.Count, c.Item.At.TotalSeconds, 1e-6));
    }
}
