using Billing.Scenarios;

namespace Billing.ScenarioTests;

public sealed class SimulationsTests
{
    [Theory]
    [InlineData(100, 30_000, 100)]
    [InlineData(40, 2_000, 100)]
    [InlineData(95, 30_000, 200)]
    [InlineData(36, 30_000, 500)]
    [InlineData(7, 30_000, 1_000)]
    [InlineData(100, 1_200, 100)]
    [InlineData(95, 1_500, 200)]
    [InlineData(100_000, 86_400_000, 100)]
    public void The_interval_is_the_shortest_with_a_whole_number_of_calls(int rate, int duringMs, int expectedMs) =>
        Assert.Equal(
            TimeSpan.FromMilliseconds(expectedMs), Simulations.Interval(TimeSpan.FromMilliseconds(duringMs), rate));

    [Fact]
    public void The_duration_is_a_whole_number_of_intervals_if_one_of_them_divides_it() => Assert.Equal(
        TimeSpan.FromMilliseconds(500), Simulations.Interval(TimeSpan.FromMilliseconds(1_500), 10, 36));

    [Theory]
    [InlineData(20, 60, 100)]
    [InlineData(100, 55, 200)]
    [InlineData(1, 60, 1_000)]
    public void A_ramp_has_whole_numbers_of_calls_per_interval_at_its_start_and_its_end(
        int from, int to, int expectedMs) =>
        Assert.Equal(
            TimeSpan.FromMilliseconds(expectedMs), Simulations.Interval(TimeSpan.FromSeconds(10), from, to));
}
