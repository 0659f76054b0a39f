using Billing.Measuring.Driving;
using Billing.Measuring.Sweeping;
using Billing.UnitTests.Measuring.Comparing;

namespace Billing.UnitTests.Measuring.Sweeping;

/// <summary>The choice of the best of the measured configurations.</summary>
public sealed class SweepPlacesTests
{
    private static readonly SweepCell Modest = ExampleResults.Cell(1, 8, 1000);
    private static readonly SweepCell Middling = ExampleResults.Cell(2, 8, 1500, p99Ms: 300);
    private static readonly SweepCell Greatest = ExampleResults.Cell(4, 8, 2000, p99Ms: 500);
    private static readonly SweepCell Failing = ExampleResults.Cell(8, 8, 9000, failed: 1);

    [Fact]
    public void A_configuration_with_a_failed_request_is_never_the_best()
    {
        Assert.Equal(Greatest, Places([Modest, Failing, Greatest]).Best);
        Assert.Equal(Modest, Places([Modest, Failing, Greatest]).BestWithinBound);
        Assert.Null(Places([Failing]).Best);
    }

    [Fact]
    public void The_configurations_with_the_most_answers_overall_and_within_the_bound_are_measured_again() => Assert.Equal(
        [new SweepPoint(4, 8), new SweepPoint(2, 8), new SweepPoint(1, 8)],
        Places([Modest, Middling, Failing, Greatest]).Candidates(2));

    [Fact]
    public void Of_the_configurations_measured_again_that_with_the_best_median_is_the_best()
    {
        var lucky = new FinalPlace(4, 8, [Greatest with { PerSecond = 1200 }, Greatest with { PerSecond = 9999 }, Greatest with { PerSecond = 1100 }]);
        var steady = new FinalPlace(2, 8, [Middling, Middling with { PerSecond = 1400 }, Middling with { PerSecond = 1600 }]);
        var places = Places([Modest, Middling, Greatest], lucky, steady);

        Assert.Equal(steady, places.BestPlace);
        Assert.Equal(Middling, places.Best);
        Assert.Equal((1400, 1500, 1600), (places.BestPlace!.PerSecond.Min, places.BestPlace.PerSecond.Median, places.BestPlace.PerSecond.Max));
        Assert.Null(places.BestWithinBound);
    }

    [Fact]
    public void A_configuration_that_fails_when_measured_again_is_not_the_best()
    {
        var failing = new FinalPlace(4, 8, [Greatest, Greatest with { Errors = Failing.Errors }]);

        Assert.Equal(2, Places([Greatest, Middling], failing, new FinalPlace(2, 8, [Middling])).BestPlace!.Connections);
    }

    private static ProtocolSweep Places(IReadOnlyList<SweepCell> cells, params IReadOnlyList<FinalPlace> finals) =>
        new(DriveProtocol.Unary, cells, 100) { Finals = finals };
}
