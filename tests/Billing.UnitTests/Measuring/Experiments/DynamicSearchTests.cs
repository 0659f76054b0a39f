using Billing.Measuring.Experiments.Sweeps;

namespace Billing.UnitTests.Measuring.Experiments;

public sealed class DynamicSearchTests
{
    [Theory]
    [InlineData(1, new[] { 1 })]
    [InlineData(2, new[] { 1, 2 })]
    [InlineData(8, new[] { 1, 2, 4, 8 })]
    [InlineData(10, new[] { 1, 2, 4, 8, 10 })]
    public void Loads_are_doubled_up_to_the_maximum(int max, int[] loads) =>
        Assert.Equal(loads, DynamicSearch.Doublings(max));

    [Fact]
    public async Task A_row_ends_after_two_doublings_without_more_throughput()
    {
        var points = await SearchAsync(1, 64, point => Math.Min(point.InFlight, 4));

        Assert.Equal([1, 2, 4, 8, 16], points.Select(p => p.InFlight));
    }

    [Fact]
    public async Task A_single_drop_in_throughput_does_not_end_a_row()
    {
        var points = await SearchAsync(1, 16, point => point.InFlight == 4 ? 1 : point.InFlight);

        Assert.Equal([1, 2, 4, 8, 16], points.Select(p => p.InFlight));
    }

    [Fact]
    public async Task The_sweep_ends_after_two_rows_without_more_throughput()
    {
        var points = await SearchAsync(64, 1, point => Math.Min(point.Connections, 2));

        Assert.Equal([1, 2, 4, 8], points.Select(p => p.Connections));
    }

    [Fact]
    public async Task If_throughput_always_grows_the_search_continues_to_both_maximums()
    {
        var points = await SearchAsync(3, 4, point => point.Connections * point.InFlight);

        Assert.Equal(9, points.Count);
        Assert.Equal(new SweepPoint(3, 4), points[^1]);
    }

    private static async Task<List<SweepPoint>> SearchAsync(
        int connections, int inFlight, Func<SweepPoint, double> throughput)
    {
        var points = new List<SweepPoint>();
        await DynamicSearch.RunAsync(connections, inFlight, point =>
        {
            points.Add(point);
            return Task.FromResult(throughput(point));
        });
        return points;
    }
}
