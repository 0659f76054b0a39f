using Billing.Rpc.Rpcx;

namespace Billing.UnitTests.Rpc.Rpcx;

public sealed class DeadlineTimerTests : IDisposable
{
    private readonly ManualTime _time = new();
    private readonly CallClock _clock;
    private readonly List<long> _waiting = [];
    private readonly List<long> _ended = [];
    private readonly DeadlineTimer _timer;

    public DeadlineTimerTests()
    {
        _clock = new CallClock(_time);
        _timer = new DeadlineTimer(_clock, Expire);
    }

    public void Dispose() => _timer.Dispose();

    [Fact]
    public void Each_call_ends_at_its_deadline_in_any_order_of_arrival()
    {
        var (first, second, third) = (Add(2_000), Add(1_000), Add(3_000));
        _time.Advance(TimeSpan.FromMilliseconds(999));
        Assert.Empty(_ended);
        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal([second], _ended);
        _time.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal([second, first, third], _ended);
    }

    [Fact]
    public void Calls_with_the_same_timeout_set_the_timer_once_until_the_first_is_due()
    {
        for (var i = 0; i < 100; i++)
        {
            Add(1_000);
            _time.Advance(TimeSpan.FromMilliseconds(1));
        }
        Assert.Single(_time.Delays);
    }

    [Fact]
    public void A_deadline_beyond_the_maximum_delay_of_a_timer_is_waited_for_in_parts()
    {
        var dueAt = _clock.DueAfter(TimeSpan.FromDays(100));
        _waiting.Add(dueAt);
        _timer.Set(dueAt);
        _time.Advance(TimeSpan.FromDays(99));
        Assert.Empty(_ended);
        _time.Advance(TimeSpan.FromDays(1));
        Assert.Equal([dueAt], _ended);
    }

    [Fact]
    public void A_deadline_is_sent_as_the_time_left()
    {
        var dueAt = _clock.DueAfter(TimeSpan.FromSeconds(2));
        _time.Advance(TimeSpan.FromMilliseconds(500));
        Assert.Equal(1_500_000UL, _clock.MicrosecondsLeft(dueAt));
        Assert.Equal(TimeSpan.FromMilliseconds(1_500), _clock.Left(dueAt));
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(1UL, _clock.MicrosecondsLeft(dueAt));
    }

    [Fact]
    public void No_deadline_is_sent_as_zero_and_received_as_no_deadline()
    {
        Assert.Equal(0UL, _clock.MicrosecondsLeft(_clock.DueAfter(Timeout.InfiniteTimeSpan)));
        Assert.Equal(CallClock.Never, _clock.DueAfter(0UL));
        Assert.Equal(CallClock.Never, _clock.DueAfter(ulong.MaxValue));
        Assert.Null(_clock.Left(CallClock.Never));
    }

    private long Add(int milliseconds)
    {
        var dueAt = _clock.DueAfter(TimeSpan.FromMilliseconds(milliseconds));
        _waiting.Add(dueAt);
        _timer.Set(dueAt);
        return dueAt;
    }

    private long Expire(long now)
    {
        _ended.AddRange(_waiting.Where(dueAt => dueAt <= now).Order());
        _waiting.RemoveAll(dueAt => dueAt <= now);
        return _waiting.DefaultIfEmpty(CallClock.Never).Min();
    }
}
