using Billing.Measuring.Driving;
using Billing.Measuring.Sweeping;
using Billing.UnitTests.Measuring.Comparing;

namespace Billing.UnitTests.Measuring.Sweeping;

/// <summary>The choice of the best measured configuration of a sweep.</summary>
public sealed class BestConfigurationTests
{
    private static readonly SweepMeasurement Modest = ExampleResults.Cell(1, 8, 1000);
    private static readonly SweepMeasurement Middling = ExampleResults.Cell(2, 8, 1500, p99Ms: 300);
    private static readonly SweepMeasurement Greatest = ExampleResults.Cell(4, 8, 2000, p99Ms: 500);
    private static readonly SweepMeasurement Failing = ExampleResults.Cell(8, 8, 9000, failed: 1);

    [Fact]
    public void A_configuration_with_a_failed_request_is_never_the_best()
    {
        Assert.Equal(Greatest, Sweep([Modest, Failing, Greatest]).Best);
        Assert.Equal(Modest, Sweep([Modest, Failing, Greatest]).BestWithinBound);
        Assert.Null(Sweep([Failing]).Best);
    }

    [Fact]
    public void The_best_configurations_overall_and_within_the_latency_limit_are_repeated() => Assert.Equal(
        [new SweepPoint(4, 8), new SweepPoint(2, 8), new SweepPoint(1, 8)],
        Sweep([Modest, Middling, Failing, Greatest]).Candidates(2));

    [Fact]
    public void Of_repeated_configurations_the_one_with_the_best_median_is_the_best()
    {
        var lucky = new RepeatedConfiguration(4, 8, [Greatest with { PerSecond = 1200 }, Greatest with { PerSecond = 9999 }, Greatest with { PerSecond = 1100 }]);
        var steady = new RepeatedConfiguration(2, 8, [Middling, Middling with { PerSecond = 1400 }, Middling with { PerSecond = 1600 }]);
        var sweep = Sweep([Modest, Middling, Greatest], lucky, steady);

        Assert.Equal(steady, sweep.BestPlace);
        Assert.Equal(Middling, sweep.Best);
        Assert.Equal((1400, 1500, 1600), (sweep.BestPlace!.PerSecond.Min, sweep.BestPlace.PerSecond.Median, sweep.BestPlace.PerSecond.Max));
        Assert.Null(sweep.BestWithinBound);
    }

    [Fact]
    public void A_configuration_that_fails_when_repeated_is_not_the_best()
    {
        var failing = new RepeatedConfiguration(4, 8, [Greatest, Greatest with { Errors = Failing.Errors }]);

        Assert.Equal(2, Sweep([Greatest, Middling], failing, new RepeatedConfiguration(2, 8, [Middling])).BestPlace!.Connections);
    }

    private static ProtocolSweep Sweep(IReadOnlyList<SweepMeasurement> cells, params IReadOnlyList<RepeatedConfiguration> finals) =>
        new(DriveProtocol.Unary, cells, 100) { Finals = finals };
}
