using Billing.Hosting;
using Microsoft.Extensions.DependencyInjection;

namespace Billing.UnitTests.Hosting;

public sealed class SteadyTimeTests : IDisposable
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly ManualTime _inner = new();
    private readonly SteadyTime _time;
    private readonly DateTimeOffset _start;

    public SteadyTimeTests()
    {
        _time = new SteadyTime(_inner);
        _start = _inner.GetUtcNow();
    }

    public void Dispose() => _time.Dispose();

    [Fact]
    public void It_starts_at_the_wall_clocks_time_and_runs_at_the_same_rate()
    {
        Assert.Equal(_start, _time.GetUtcNow());
        _inner.Advance(TimeSpan.FromDays(2));
        Assert.Equal(_start + TimeSpan.FromDays(2), _time.GetUtcNow());
    }

    [Theory]
    [InlineData(1)]
    [InlineData(-1)]
    public void A_step_of_an_hour_is_corrected_by_half_a_millisecond_per_second(int hours)
    {
        _inner.Set(TimeSpan.FromHours(hours));
        Assert.Equal(_start, _time.GetUtcNow());
        _inner.Advance(100 * Second);
        Assert.Equal(_start + (100 * Second) + (hours * TimeSpan.FromMilliseconds(50)), _time.GetUtcNow());
    }

    [Theory]
    [InlineData(400)]
    [InlineData(-400)]
    public void A_drift_is_followed(int microsecondsPerSecond)
    {
        for (var i = 0; i < 1000; i++)
        {
            _inner.Set(TimeSpan.FromMicroseconds(microsecondsPerSecond));
            _inner.Advance(Second);
            Assert.Equal(_inner.GetUtcNow(), _time.GetUtcNow());
        }
    }

    [Fact]
    public void It_never_goes_backwards()
    {
        _inner.Set(TimeSpan.FromHours(-1));
        var last = _time.GetUtcNow();
        for (var i = 0; i < 100_000; i++)
        {
            _inner.Advance(TimeSpan.FromMicroseconds(90));
            var now = _time.GetUtcNow();
            Assert.True(now >= last);
            last = now;
        }
    }

    [Fact]
    public async Task Concurrent_readers_never_see_time_go_backwards()
    {
        _inner.Set(TimeSpan.FromHours(-1));
        var readers = Enumerable.Range(0, 4).Select(_ => Task.Run(() =>
        {
            for (var i = 0; i < 50_000; i++)
            {
                var earlier = _time.GetUtcNow();
                Assert.True(_time.GetUtcNow() >= earlier);
            }
        })).ToList();
        while (!readers.TrueForAll(reader => reader.IsCompleted))
        {
            _inner.Advance(TimeSpan.FromMilliseconds(1));
        }
        await Task.WhenAll(readers);
    }

    [Fact]
    public void Timers_and_timestamps_are_those_of_the_inner_clock()
    {
        var fired = 0;
        using var timer = _time.CreateTimer(_ => fired++, null, Second, Second);
        _inner.Set(TimeSpan.FromHours(1));
        Assert.Equal(_inner.GetTimestamp(), _time.GetTimestamp());
        Assert.Equal(_inner.TimestampFrequency, _time.TimestampFrequency);
        _inner.Advance(3 * Second);
        Assert.Equal(3, fired);
    }

    [Fact]
    public void Disposing_it_stops_its_timer()
    {
        _time.Dispose();
        _inner.Set(TimeSpan.FromHours(1));
        _inner.Advance(100 * Second);
        Assert.Equal(_start + (100 * Second), _time.GetUtcNow());
    }

    [Fact]
    public void It_is_registered_unless_another_clock_is_registered()
    {
        using var services = new ServiceCollection().AddServiceTime().AddServiceTime().BuildServiceProvider();
        var time = Assert.IsType<SteadyTime>(Assert.Single(services.GetServices<TimeProvider>()));
        Assert.Same(TimeProvider.System, time.WallClock());
        using var registered = new ServiceCollection().AddSingleton<TimeProvider>(_inner).AddServiceTime()
            .BuildServiceProvider();
        Assert.Same(_inner, Assert.Single(registered.GetServices<TimeProvider>()));
        Assert.Same(_inner, _inner.WallClock());
    }

    [Fact]
    public void With_fewer_than_two_others_it_goes_by_the_wall_clock()
    {
        _time.Hear("broker 1", _start.AddHours(1), TimeSpan.Zero, _inner.GetTimestamp(), _inner.GetTimestamp());
        _time.Set();

        Assert.Equal(_start, _time.GetUtcNow());
        Assert.Equal(_start, _time.AgreedClock().GetUtcNow());
    }

    [Fact]
    public void An_answer_that_took_long_says_no_more_than_it_can()
    {
        var asked = _inner.GetTimestamp();
        _inner.Advance(4 * Second);

        // Each was read at some moment of the four seconds.
        _time.Hear("broker 1", _start + Second, TimeSpan.Zero, asked, _inner.GetTimestamp());
        _time.Hear("broker 2", _start + (3 * Second), TimeSpan.Zero, asked, _inner.GetTimestamp());
        _time.Set();

        Assert.Equal(_inner.GetUtcNow(), _time.GetUtcNow());
    }

    [Fact]
    public void A_machine_that_has_not_answered_for_more_than_an_hour_has_no_say()
    {
        _time.Hear("broker 1", _start.AddHours(1), TimeSpan.Zero, _inner.GetTimestamp(), _inner.GetTimestamp());
        _inner.Advance(TimeSpan.FromMinutes(61));
        _time.Hear("broker 2", _inner.GetUtcNow(), TimeSpan.Zero, _inner.GetTimestamp(), _inner.GetTimestamp());

        Assert.Equal("broker 2", Assert.Single(_time.Others).Clock);
    }
}
