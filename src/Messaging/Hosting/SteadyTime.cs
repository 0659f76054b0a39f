using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Billing.Messaging.Hosting;

/// <summary>The clock of the services: it reads the machine's wall clock once, goes on with the monotonic clock, and follows
/// the wall clock by at most 500 microseconds a second. So a wall clock that is set, by hand or by NTP, neither expires the
/// commands that are under way nor holds them for ever, and a clock that drifts is still followed. It never goes backwards.
/// Timers and timestamps are those of the inner clock. Safe from any thread; reading takes no lock.</summary>
public sealed class SteadyTime : TimeProvider, IDisposable
{
    private static readonly TimeSpan FollowInterval = TimeSpan.FromSeconds(1);
    private static readonly long StepMaxTicks = TimeSpan.FromMicroseconds(500).Ticks;

    private readonly TimeProvider _inner;
    private readonly long _startTimestamp;
    private readonly long _startTicks;
    private readonly ITimer _follow;
    private long _offsetTicks;
    private long _lastTicks;

    /// <summary>Starts the clock at the inner clock's present time.</summary>
    public SteadyTime(TimeProvider inner)
    {
        _inner = inner;
        _startTimestamp = inner.GetTimestamp();
        _startTicks = inner.GetUtcNow().UtcTicks;
        _follow = inner.CreateTimer(_ => Follow(), null, FollowInterval, FollowInterval);
    }

    /// <summary>The machine's own clock, which may step: for times that others have read from it.</summary>
    public TimeProvider Wall => _inner;

    /// <inheritdoc/>
    public override TimeZoneInfo LocalTimeZone => _inner.LocalTimeZone;

    /// <inheritdoc/>
    public override long TimestampFrequency => _inner.TimestampFrequency;

    /// <inheritdoc/>
    public override long GetTimestamp() => _inner.GetTimestamp();

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow()
    {
        // Where the offset has just been lowered, time stands still for a moment instead of going back.
        var now = Ticks();
        var last = Volatile.Read(ref _lastTicks);
        while (now > last)
        {
            var seen = Interlocked.CompareExchange(ref _lastTicks, now, last);
            if (seen == last)
            {
                return new DateTimeOffset(now, TimeSpan.Zero);
            }
            last = seen;
        }
        return new DateTimeOffset(last, TimeSpan.Zero);
    }

    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        _inner.CreateTimer(callback, state, dueTime, period);

    /// <summary>Stops following the wall clock.</summary>
    public void Dispose() => _follow.Dispose();

    private long Ticks() =>
        _startTicks + _inner.GetElapsedTime(_startTimestamp).Ticks + Volatile.Read(ref _offsetTicks);

    private void Follow()
    {
        var behind = _inner.GetUtcNow().UtcTicks - Ticks();
        Interlocked.Add(ref _offsetTicks, Math.Clamp(behind, -StepMaxTicks, StepMaxTicks));
    }
}

/// <summary>Registers the services' clock.</summary>
public static class ServiceTime
{
    /// <summary>Adds a <see cref="SteadyTime"/> as the <see cref="TimeProvider"/>, unless there is one already.</summary>
    public static IServiceCollection AddServiceTime(this IServiceCollection services)
    {
        services.TryAddSingleton<TimeProvider>(_ => new SteadyTime(TimeProvider.System));
        return services;
    }

    /// <summary>The clock of the machine behind the services' clock: to be compared with times that others have read from it.
    /// </summary>
    public static TimeProvider WallClock(this TimeProvider time) => time is SteadyTime steady ? steady.Wall : time;
}
