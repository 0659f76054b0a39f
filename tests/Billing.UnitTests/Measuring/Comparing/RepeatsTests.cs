using Billing.Measuring.Comparing;

namespace Billing.UnitTests.Measuring.Comparing;

public sealed class RepeatsTests
{
    [Fact]
    public async Task Sides_alternate_their_order_is_reversed_every_other_round_and_the_first_round_is_dropped()
    {
        var (ran, kept) = (new List<string>(), new List<string>());

        await Repeats.RunAsync<string, string>(
            ["a", "b"], 2,
            (side, round) =>
            {
                ran.Add(side + round);
                return Task.FromResult(side + round);
            },
            (_, result) => kept.Add(result),
            CancellationToken.None);

        Assert.Equal(["a0", "b0", "b1", "a1", "a2", "b2"], ran);
        Assert.Equal(["b1", "a1", "a2", "b2"], kept);
    }

    [Fact]
    public async Task Stopping_ends_between_two_measurements()
    {
        using var stop = new CancellationTokenSource();
        var ran = 0;

        await Assert.ThrowsAsync<OperationCanceledException>(() => Repeats.RunAsync<int, int>(
            [1, 2], 1,
            async (side, _) =>
            {
                ran++;
                await stop.CancelAsync();
                return side;
            },
            (_, _) => { },
            stop.Token));

        Assert.Equal(1, ran);
    }
}
