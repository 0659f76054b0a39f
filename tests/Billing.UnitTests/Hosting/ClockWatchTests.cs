using Billing.Hosting;
using Billing.UnitTests.Testing;

namespace Billing.UnitTests.Hosting;

public sealed class ClockWatchTests : IDisposable
{
    private readonly ManualTime _wall = new();
    private readonly SteadyTime _time;
    private readonly Supervisor _supervisor = Supervision.New();
    private readonly CancellationTokenSource _stop = new();
    private readonly ClockWatch _watch;

    public ClockWatchTests()
    {
        _time = new SteadyTime(_wall);
        _watch = new ClockWatch(_time, _supervisor);
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
}
