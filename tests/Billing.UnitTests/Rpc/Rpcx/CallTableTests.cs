using Billing.Rpc.Rpcx;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Rpc.Rpcx;

public sealed class CallTableTests : IDisposable
{
    private readonly ManualTime _time = new();
    private readonly CallClock _clock;
    private readonly List<string> _expired = [];
    private readonly CallTable<string> _calls;

    public CallTableTests()
    {
        _clock = new CallClock(_time);
        _calls = new CallTable<string>(_clock, (_, call) => _expired.Add(call));
    }

    public void Dispose() => _calls.Dispose();

    [Fact]
    public void It_contains_the_calls_that_were_added_and_not_removed() => Gen.Choose(0, 20).ArrayOf(300).Holds(ids =>
    {
        using var calls = new CallTable<string>(_clock, (_, _) => { });
        var waiting = new Dictionary<ulong, string>();
        foreach (var id in ids.Select(id => (ulong)id))
        {
            if (waiting.Remove(id, out var call))
            {
                Assert.False(calls.TryAdd(id, "second", CallClock.Never));
                Assert.Same(call, calls.Remove(id));
            }
            else
            {
                Assert.Null(calls.Remove(id));
                Assert.True(calls.TryAdd(id, waiting[id] = $"call {id}", CallClock.Never));
            }
            Assert.Equal(waiting.Count, calls.Count);
        }
        Assert.All(waiting, w => Assert.Same(w.Value, calls.Remove(w.Key)));
    });

    [Fact]
    public void An_ended_call_does_not_remove_a_later_one_with_its_id()
    {
        Add("first", id: 1);
        _calls.Remove(1);
        Add("second", id: 1);
        Assert.Null(_calls.Remove(1, "first"));
        Assert.Equal("second", _calls.Remove(1, "second"));
    }

    [Fact]
    public void Closing_returns_the_calls_and_rejects_further_ones()
    {
        Add("first", id: 1);
        Assert.Equal("first", Assert.Single(_calls.Close()));
        Assert.False(_calls.TryAdd(2, "second", CallClock.Never));
        Assert.Empty(_calls.Close());
    }

    [Fact]
    public void Each_call_ends_at_its_deadline_in_any_order_of_arrival()
    {
        Add("first", id: 1, milliseconds: 2_000);
        Add("second", id: 2, milliseconds: 1_000);
        Add("third", id: 3, milliseconds: 3_000);
        _time.Advance(TimeSpan.FromMilliseconds(999));
        Assert.Empty(_expired);
        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal(["second"], _expired);
        Assert.Null(_calls.Remove(2));
        _time.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal(["second", "first", "third"], _expired);
        Assert.Equal(0, _calls.Count);
    }

    [Fact]
    public void Calls_with_the_same_timeout_set_the_timer_once_until_the_first_is_due()
    {
        for (var id = 1UL; id <= 100; id++)
        {
            Add("call", id, milliseconds: 1_000);
            _time.Advance(TimeSpan.FromMilliseconds(1));
        }
        Assert.Single(_time.Delays);
    }

    [Fact]
    public void A_deadline_beyond_the_maximum_delay_of_a_timer_is_waited_for_in_parts()
    {
        _calls.TryAdd(1, "call", _clock.DueAfter(TimeSpan.FromDays(100)));
        _time.Advance(TimeSpan.FromDays(99));
        Assert.Empty(_expired);
        _time.Advance(TimeSpan.FromDays(1));
        Assert.Equal(["call"], _expired);
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
        Assert.Equal(CallClock.Never, _clock.DueAfter(TimeSpan.MaxValue));
        Assert.Null(_clock.Left(CallClock.Never));
    }

    private void Add(string call, ulong id, int milliseconds = 60_000) =>
        Assert.True(_calls.TryAdd(id, call, _clock.DueAfter(TimeSpan.FromMilliseconds(milliseconds))));
}
