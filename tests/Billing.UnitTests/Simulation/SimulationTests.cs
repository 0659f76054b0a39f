using System.Globalization;
using Billing.Simulation.Runs;

namespace Billing.UnitTests.Simulation;

public sealed class SimulationTests(ITestOutputHelper output)
{
    private const int Schedules = 400;

    [Theory]
    [InlineData(1)]
    [InlineData(1_000_000)]
    public void Schedules_of_fixed_seeds_have_no_failures(int seed) => Simulate(seed);

    [Fact]
    public void Schedules_of_the_current_date_have_no_failures()
    {
        var day = TimeProvider.System.GetUtcNow();
        var seed = int.Parse(day.ToString("yyyyMMdd", CultureInfo.InvariantCulture), CultureInfo.InvariantCulture);
        output.WriteLine($"Seeds from {seed}.");
        Simulate(seed);
    }

    [Theory]
    [InlineData(7)]
    [InlineData(201)]
    [InlineData(1355)]
    public void Runs_with_the_same_seed_are_equal(int seed) => Assert.True(Simulator.IsRepeatable(seed));

    private static void Simulate(int seed)
    {
        var summary = Simulator.Simulate(
            seed, Schedules, TimeSpan.FromMinutes(5), Environment.ProcessorCount, _ => { }, TestContext.Current.CancellationToken);

        Assert.True(summary.Failure is null, $"Seed {summary.Failure?.Seed}: {summary.Failure?.What}");
        Assert.Equal(Schedules, summary.Schedules);
        Assert.True(summary.Simulated > TimeSpan.FromMinutes(1));
    }
}
