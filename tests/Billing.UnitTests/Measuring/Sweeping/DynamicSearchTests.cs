using Billing.Measuring.Sweeping;

namespace Billing.UnitTests.Measuring.Sweeping;

public sealed class DynamicSearchTests
{
    [Theory]
    [InlineData(1, new[] { 1 })]
    [InlineData(2, new[] { 1, 2 })]
    [InlineData(8, new[] { 1, 2, 4, 8 })]
    [InlineData(10, new[] { 1, 2, 4, 8, 10 })]
    public void Loads_double_up_to_the_bound(int max, int[] loads) => Assert.Equal(loads, DynamicSearch.Doublings(max));

    [Fact]
    public async Task A_row_ends_after_two_doublings_that_brought_nothing()
    {
        var places = await SearchAsync(1, 64, place => Math.Min(place.InFlight, 4));

        Assert.Equal([1, 2, 4, 8, 16], places.Select(p => p.InFlight));
    }

    [Fact]
    public async Task A_dip_does_not_end_a_row_that_climbs_again()
    {
        var places = await SearchAsync(1, 16, place => place.InFlight == 4 ? 1 : place.InFlight);

        Assert.Equal([1, 2, 4, 8, 16], places.Select(p => p.InFlight));
    }

    [Fact]
    public async Task The_sweep_ends_after_two_rows_that_brought_nothing()
    {
        var places = await SearchAsync(64, 1, place => Math.Min(place.Connections, 2));

        Assert.Equal([1, 2, 4, 8], places.Select(p => p.Connections));
    }

    [Fact]
    public async Task Load_that_always_brings_more_is_followed_to_both_bounds()
    {
        var places = await SearchAsync(3, 4, place => place.Connections * place.InFlight);

        Assert.Equal(9, places.Count);
        Assert.Equal(new SweepPoint(3, 4), places[^1]);
    }

    private static async Task<List<SweepPoint>> SearchAsync(int connections, int inFlight, Func<SweepPoint, double> throughput)
    {
        var places = new List<SweepPoint>();
        await DynamicSearch.RunAsync(connections, inFlight, place =>
        {
            places.Add(place);
            return Task.FromResult(throughput(place));
        });
        return places;
    }
}
