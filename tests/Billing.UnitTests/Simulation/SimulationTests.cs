using System.Globalization;
using Billing.Simulation.Runs;

namespace Billing.UnitTests.Simulation;

public sealed class SimulationTests(ITestOutputHelper output)
{
    private const int Schedules = 400;

    [Theory]
    [InlineData(1)]
    [InlineData(1_000_000)]
    public void Nothing_goes_wrong_in_the_schedules_of_fixed_seeds(int seed) => Simulate(seed);

    [Fact]
    public void Nothing_goes_wrong_in_the_schedules_of_the_day()
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
    public void A_seed_always_makes_the_same_run(int seed) => Assert.True(Simulator.IsRepeatable(seed));

    private static void Simulate(int seed)
    {
        var summary = Simulator.Simulate(
            seed, Schedules, TimeSpan.FromMinutes(5), Environment.ProcessorCount, _ => { }, TestContext.Current.CancellationToken);

        Assert.True(summary.Failure is null, $"Seed {summary.Failure?.Seed}: {summary.Failure?.What}");
        Assert.Equal(Schedules, summary.Schedules);
        Assert.True(summary.Simulated > TimeSpan.FromMinutes(1));
    }
}
