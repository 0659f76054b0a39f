using Billing.Hosting;
using Billing.UnitTests.Testing;
using Microsoft.Extensions.Logging.Testing;

namespace Billing.UnitTests.Hosting;

public sealed class ClockWatchTests : IDisposable
{
    private readonly ManualTime _wall = new();
    private readonly SteadyTime _time;
    private readonly Supervisor _supervisor = Supervision.New();
    private readonly CancellationTokenSource _stop = new();
    private readonly FakeLogger<ClockWatch> _log = new();
    private readonly ClockWatch _watch;

    public ClockWatchTests()
    {
        _time = new SteadyTime(_wall);
        _watch = new ClockWatch(_time, _supervisor, _log);
    }

    public void Dispose()
    {
        _watch.Dispose();
        _supervisor.Dispose();
        _time.Dispose();
        _stop.Dispose();
    }

    [Theory]
    [InlineData(35)]
    [InlineData(-35)]
    public async Task A_clock_that_stays_away_from_the_wall_clock_for_a_minute_ends_the_process(int seconds)
    {
        var watching = _watch.RunAsync(_stop.Token);
        _wall.Set(TimeSpan.FromSeconds(seconds));
        var set = _wall.GetTimestamp();

        var e = await Assert.ThrowsAsync<InvalidOperationException>(() => _wall.RunToEndAsync(watching));

        Assert.Contains("wall clock", e.Message, StringComparison.Ordinal);
        Assert.True(_wall.GetElapsedTime(set) >= ClockWatch.DurationMax);
    }

    [Fact]
    public async Task A_clock_that_is_set_back_within_a_minute_and_one_that_is_a_second_off_do_not()
    {
        var watching = _watch.RunAsync(_stop.Token);
        foreach (var by in new[] { 3600, -3600, -3600, 3600, 1 })
        {
            _wall.Set(TimeSpan.FromSeconds(by));
            await _wall.RunToEndAsync(Task.Delay(TimeSpan.FromSeconds(40), _wall));
        }
        await _wall.RunToEndAsync(Task.Delay(TimeSpan.FromMinutes(2), _wall));

        Assert.False(watching.IsCompleted);
    }

    [Theory]
    [InlineData(3600)]
    [InlineData(-3600)]
    public async Task A_wall_clock_that_was_set_wrong_for_good_is_outvoted_named_and_ends_nothing(int seconds)
    {
        Hear(TimeSpan.Zero, "broker 1", "broker 2");
        var watching = _watch.RunAsync(_stop.Token);
        var right = _wall.GetUtcNow();
        var start = _wall.GetTimestamp();

        _wall.Set(TimeSpan.FromSeconds(seconds));
        await _wall.RunToEndAsync(Task.Delay(TimeSpan.FromMinutes(3), _wall));

        Assert.False(watching.IsCompleted);
        Assert.Equal(right + _wall.GetElapsedTime(start), _time.GetUtcNow(), TimeSpan.FromMilliseconds(200));
        Assert.Contains(
            "machine " + Environment.MachineName,
            Assert.Single(_log.Collector.GetSnapshot()).Message, StringComparison.Ordinal);
        Assert.Null(_watch.NotReadyReason);
    }

    [Fact]
    public async Task A_clock_that_stays_behind_most_others_for_a_minute_is_set_forward()
    {
        var watching = _watch.RunAsync(_stop.Token);
        _wall.Set(TimeSpan.FromMinutes(5));

        Hear(TimeSpan.Zero, "broker 1", "broker 2");
        await _wall.RunToEndAsync(Task.Delay(TimeSpan.FromMinutes(2), _wall));

        Assert.False(watching.IsCompleted);
        Assert.Equal(_wall.GetUtcNow(), _time.GetUtcNow(), TimeSpan.FromMilliseconds(1));
    }

    [Fact]
    public async Task The_clock_of_a_broker_that_is_wrong_is_named_once()
    {
        var watching = _watch.RunAsync(_stop.Token);
        Hear(TimeSpan.Zero, "broker 1", "database");
        Hear(TimeSpan.FromHours(-1), "broker 2");

        await _wall.RunToEndAsync(Task.Delay(TimeSpan.FromMinutes(1), _wall));

        Assert.False(watching.IsCompleted);
        Assert.Contains("broker 2", Assert.Single(_log.Collector.GetSnapshot()).Message, StringComparison.Ordinal);
        Assert.Null(_watch.NotReadyReason);
    }

    [Fact]
    public void Of_two_clocks_that_differ_none_is_believed_and_the_service_is_not_ready_and_names_both()
    {
        Hear(TimeSpan.FromHours(1), "broker 1");

        Assert.Contains("machine " + Environment.MachineName, _watch.NotReadyReason, StringComparison.Ordinal);
        Assert.Contains("broker 1 (+3600 s)", _watch.NotReadyReason, StringComparison.Ordinal);

        Hear(TimeSpan.Zero, "database");
        Assert.Null(_watch.NotReadyReason);
    }

    [Fact]
    public async Task A_wall_clock_that_steps_away_from_the_only_other_clock_is_not_believed()
    {
        Hear(TimeSpan.Zero, "broker 1");
        var watching = _watch.RunAsync(_stop.Token);
        var right = _wall.GetUtcNow();
        var start = _wall.GetTimestamp();

        _wall.Set(TimeSpan.FromHours(1));
        await _wall.RunToEndAsync(Task.Delay(TimeSpan.FromMinutes(3), _wall));

        Assert.False(watching.IsCompleted);
        Assert.Equal(right + _wall.GetElapsedTime(start), _time.GetUtcNow(), TimeSpan.FromMilliseconds(200));
        Assert.Equal(
            right + _wall.GetElapsedTime(start), _time.AgreedClock().GetUtcNow(), TimeSpan.FromMilliseconds(200));
        Assert.Null(_watch.NotReadyReason);
    }

    private void Hear(TimeSpan ahead, params string[] clocks)
    {
        foreach (var clock in clocks)
        {
            _time.Hear(
                clock, _wall.GetUtcNow() + ahead, TimeSpan.FromMilliseconds(1),
                _wall.GetTimestamp(), _wall.GetTimestamp());
        }
    }
}
