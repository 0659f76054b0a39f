using System.Globalization;
using Billing.Simulation.Doors;
using Billing.Simulation.Runs;
using Billing.Simulation.Schedules;
using Billing.UnitTests.Testing;

namespace Billing.UnitTests.Simulation;

public sealed class SimulationTests(ITestOutputHelper output)
{
    [Theory]
    [MemberData(nameof(ApiMethods.Unary), MemberType = typeof(ApiMethods))]
    public void A_method_of_the_API_is_called_by_every_door(string method) =>
        Assert.NotNull(Asks.Of(ApiMethods.Of(method).InputType.ClrType));

    [Theory]
    [InlineData(1)]
    [InlineData(1_000_000)]
    public void Schedules_of_fixed_seeds_have_no_failures(int seed)
    {
        const int Schedules = 200;
        var summary = Simulate(seed, Schedules, TimeSpan.FromMinutes(10), Environment.ProcessorCount);
        Assert.Equal(Schedules, summary.Schedules);
        Assert.True(summary.Simulated > TimeSpan.FromMinutes(1));
    }

    [Theory]
    [InlineData(112486)]
    [InlineData(3314874)]
    [InlineData(3323220)]
    [InlineData(4425275)]
    [InlineData(5508715)]
    [InlineData(6606731)]
    [InlineData(7709320)]
    [InlineData(8803353)]
    [InlineData(9918817)]
    [InlineData(7206232)]
    [InlineData(8211012)]
    [InlineData(8315234)]
    public void Schedules_of_single_seeds_have_no_failures(int seed) => Assert.Null(Run.Of(Schedule.Of(seed)).Failure);

    [Fact]
    public void A_minute_of_schedules_of_the_current_date_has_no_failures()
    {
        // A minute has fewer schedules than there are numbers to the next day's seed.
        var day = DateOnly.FromDateTime(TimeProvider.System.GetUtcNow().UtcDateTime).DayNumber;
        var summary = Simulate(day % 10_000 * 100_000, int.MaxValue, TimeSpan.FromMinutes(1), 1);
        // ./billing test prints this line.
        output.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"Simulated {summary.Schedules:N0} schedules, {summary.Simulated.TotalHours:0.0} hours, "
                + $"from the seed of the day, {summary.Seed}."));
        Assert.NotEqual(0, summary.Schedules);
    }

    [Theory]
    [InlineData(7)]
    [InlineData(201)]
    [InlineData(1355)]
    public void Runs_with_the_same_seed_are_equal(int seed) => Assert.True(Simulator.IsRepeatable(seed));

    private static SimulationSummary Simulate(int seed, int schedules, TimeSpan time, int threads)
    {
        var summary = Simulator.Simulate(
            seed, schedules, time, threads, _ => { }, TestContext.Current.CancellationToken);
        Assert.True(summary.Failure is null, $"Seed {summary.Failure?.Seed}: {summary.Failure?.What}");
        return summary;
    }
}
