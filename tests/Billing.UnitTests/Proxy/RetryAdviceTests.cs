using Billing.Proxy.Limits;

namespace Billing.UnitTests.Proxy;

public sealed class RetryAdviceTests
{
    private static readonly TimeSpan Wait = TimeSpan.FromMilliseconds(200);

    private readonly ManualTime _time = new();

    [Theory]
    [InlineData(20)]
    [InlineData(100)]
    [InlineData(1_000)]
    public void Retry_delays_are_spread_evenly(int callers)
    {
        var advice = new RetryAdvice(Wait, _time);

        var waits = Enumerable.Range(0, callers).Select(_ => advice.Refused()).ToList();

        Assert.All(waits, wait => Assert.InRange(wait, Wait / 2, Wait * 1.5));
        var tenths = waits.GroupBy(wait => (int)((wait - (Wait / 2)) / (Wait / 10)))
            .Select(tenth => tenth.Count()).ToList();
        Assert.Equal(10, tenths.Count);
        Assert.All(tenths, count => Assert.InRange(count, (callers / 10) - 1, (callers / 10) + 2));
    }

    [Fact]
    public void The_more_calls_are_refused_the_longer_is_the_retry_delay()
    {
        var advice = new RetryAdvice(Wait, _time);
        for (var i = 0; i < 1_000; i++)
        {
            advice.Refused();
            if (i % 9 == 0)
            {
                advice.Admitted();
            }
        }

        _time.Advance(TimeSpan.FromSeconds(1));
        advice.Refused();

        Assert.InRange(Enumerable.Range(0, 100).Average(_ => advice.Refused().TotalMilliseconds), 1_900, 2_100);
    }

    [Fact]
    public void If_no_call_is_admitted_the_retry_delay_is_bounded_and_it_is_short_again_afterwards()
    {
        var advice = new RetryAdvice(Wait, _time);
        for (var i = 0; i < 1_000_000; i++)
        {
            advice.Refused();
        }
        _time.Advance(TimeSpan.FromSeconds(1));
        advice.Refused();
        Assert.InRange(advice.Refused(), Wait * 25, Wait * 75);

        advice.Admitted();
        _time.Advance(TimeSpan.FromSeconds(1));
        for (var i = 0; i < 100; i++)
        {
            advice.Admitted();
        }
        advice.Refused();
        _time.Advance(TimeSpan.FromSeconds(1));
        advice.Refused();

        Assert.InRange(advice.Refused(), Wait / 2, Wait * 1.6);
    }
}
