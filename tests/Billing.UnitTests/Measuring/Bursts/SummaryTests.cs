using Billing.LoadClient;
using Billing.Measuring.Bursts;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Measuring.Bursts;

public sealed class SummaryTests
{
    [Fact]
    public void Percentiles_are_those_of_the_nearest_rank()
    {
        var clients = Gen.Choose(0, 1_000_000).Select(us => (long)us).ListOf().ListOf().Where(lists => lists.Any(l => l.Count > 0));
        clients.Holds(latencies =>
        {
            var summary = Summary.Of([.. latencies.Select(l => Figures([.. l]))]);
            var all = latencies.SelectMany(l => l).ToList();
            Assert.Equal(Seconds(all.Min()), summary.Shortest);
            Assert.Equal(Seconds(all.Max()), summary.Longest);
            Assert.Equal(Seconds(all.Average()), summary.Average, 1e-9);
            Assert.Equal(Seconds(SmallestThatCovers(all, 50)), summary.P50);
            Assert.Equal(Seconds(SmallestThatCovers(all, 99)), summary.P99);
            Assert.Equal(all.Count, summary.Count);
        });
    }

    [Fact]
    public void A_hundred_values_have_the_99th_as_their_p99()
    {
        var summary = Summary.Of([Figures([.. Enumerable.Range(1, 100).Select(n => n * 1_000_000L)])]);
        Assert.Equal(50, summary.P50);
        Assert.Equal(99, summary.P99);
    }

    [Fact]
    public void The_figures_of_all_clients_are_added_up()
    {
        var one = new RequestFigures(2, 1, new Dictionary<string, int> { ["Unavailable: x"] = 2, ["Internal: y"] = 1 }, [1, 2, 3]);
        var summary = Summary.Of([one, one]);
        Assert.Equal((12, 4, 2, 6), (summary.Count, summary.Ok, summary.Declined, summary.Errors));
    }

    [Fact]
    public void Without_answers_all_figures_are_zero()
    {
        Assert.Equal(new Summary(0, 0, 0, 0, 0, 0, 0, 0, 0), Summary.Of([]));
        Assert.Equal(0, Summary.Of([Figures([])]).P99);
    }

    [Fact]
    public void A_burst_of_several_clients_starts_with_the_first_client()
    {
        LoadResult[] results = [Client(startedUnixUs: 5_000_000, sinceStartUs: 1_000_000), Client(startedUnixUs: 5_400_000, sinceStartUs: 2_000_000)];

        var summary = Summary.SinceStart(results, r => r.Payments);

        Assert.Equal((1, 2.4), (summary.Shortest, summary.Longest));
        // The latency of each call is a separate figure.
        Assert.Equal(0.001, Summary.Of([.. results.Select(r => r.Payments)]).Longest);
    }

    private static LoadResult Client(long startedUnixUs, long sinceStartUs) => new(
        startedUnixUs, startedUnixUs + sinceStartUs, 0, Figures([1_000]) with { SinceStartUs = [sinceStartUs] }, Figures([]), 1);

    private static long SmallestThatCovers(List<long> values, int percent) =>
        values.Order().First(v => values.Count(other => other <= v) * 100 >= percent * values.Count);

    private static RequestFigures Figures(IReadOnlyList<long> latencies) =>
        new(latencies.Count, 0, new Dictionary<string, int>(), latencies);

    private static double Seconds(double microseconds) => microseconds / 1e6;
}
