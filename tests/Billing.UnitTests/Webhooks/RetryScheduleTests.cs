using Billing.Webhooks;

namespace Billing.UnitTests.Webhooks;

public sealed class RetryScheduleTests
{
    private static readonly WebhookOptions Options =
        new() { RetryDelay = TimeSpan.FromSeconds(5), RetryDelayMax = TimeSpan.FromHours(1) };

    [Theory]
    [InlineData(1, 5)]
    [InlineData(2, 10)]
    [InlineData(3, 20)]
    [InlineData(10, 2560)]
    [InlineData(11, 3600)]
    [InlineData(1_000_000, 3600)]
    public void Each_wait_is_twice_as_long_as_the_one_before_up_to_the_longest(int failures, double seconds)
    {
        Assert.Equal(TimeSpan.FromSeconds(seconds), Schedule(0).After(failures, null));
        Assert.Equal(TimeSpan.FromSeconds(seconds * 1.5), Schedule(1).After(failures, null));
    }

    [Theory]
    [InlineData(60, 60)]
    [InlineData(1, 5)]
    [InlineData(-10, 5)]
    [InlineData(100_000, 3600)]
    public void The_receiver_may_ask_for_a_longer_wait_within_the_longest(double asked, double seconds) =>
        Assert.Equal(TimeSpan.FromSeconds(seconds), Schedule(0).After(1, TimeSpan.FromSeconds(asked)));

    private static RetrySchedule Schedule(double share) => new(Options, new FixedRandom(share));

    private sealed class FixedRandom(double share) : Random
    {
        public override double NextDouble() => share;
    }
}
