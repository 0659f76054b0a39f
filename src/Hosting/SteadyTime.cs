using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Billing.Hosting;

/// <summary>The clock of the services: it reads the machine's wall clock once, continues with the monotonic clock, and is
/// adjusted towards the wall clock by at most 500 microseconds per second. So a step of the wall clock, by hand or by NTP,
/// neither expires the commands in flight nor postpones their deadlines; slow drift is still followed. It never goes backwards.
/// Timers and timestamps are those of the inner clock. Thread-safe; reading takes no lock.</summary>
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

    /// <summary>Starts the clock at the inner clock's current time.</summary>
    public SteadyTime(TimeProvider inner)
    {
        _inner = inner;
        _startTimestamp = inner.GetTimestamp();
        _startTicks = inner.GetUtcNow().UtcTicks;
        _follow = inner.CreateTimer(_ => Follow(), null, FollowInterval, FollowInterval);
    }

    /// <summary>The machine's wall clock, which may step; used to compare with times that other programs have read from it.
    /// </summary>
    public TimeProvider Wall => _inner;

    /// <summary>By how much the wall clock is ahead of this clock; negative if it is behind.</summary>
    public TimeSpan Behind => new(_inner.GetUtcNow().UtcTicks - Ticks());

    /// <inheritdoc/>
    public override TimeZoneInfo LocalTimeZone => _inner.LocalTimeZone;

    /// <inheritdoc/>
    public override long TimestampFrequency => _inner.TimestampFrequency;

    /// <inheritdoc/>
    public override long GetTimestamp() => _inner.GetTimestamp();

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow()
    {
        // After the offset was reduced, the last time is returned until the clock has passed it, so that time never goes back.
        var now = Ticks();
        var last = Volatile.Read(ref _lastTicks);
        while (now > last)
        {
            var current = Interlocked.CompareExchange(ref _lastTicks, now, last);
            if (current == last)
            {
                return new DateTimeOffset(now, TimeSpan.Zero);
            }
            last = current;
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
        Interlocked.Add(ref _offsetTicks, Math.Clamp(Behind.Ticks, -StepMaxTicks, StepMaxTicks));
    }
}

/// <summary>Registers the services' clock.</summary>
public static class ServiceTime
{
    /// <summary>Adds a <see cref="SteadyTime"/> as the <see cref="TimeProvider"/>, unless one is already registered, and what every service
    /// does from time to time: <see cref="ClockWatch"/> and <see cref="IdleMemory"/>.</summary>
    public static IServiceCollection AddServiceTime(this IServiceCollection services)
    {
        services.TryAddSingleton<TimeProvider>(_ => new SteadyTime(TimeProvider.System));
        return services.AddHostedService<ClockWatch>().AddHostedService<IdleMemory>();
    }

    /// <summary>Returns the machine's wall clock behind the services' clock, to compare with times that other programs have read
    /// from it.</summary>
    public static TimeProvider WallClock(this TimeProvider time) => time is SteadyTime steady ? steady.Wall : time;
}
