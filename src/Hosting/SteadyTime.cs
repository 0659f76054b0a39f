using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;

namespace Billing.Hosting;

/// <summary>The clock of the services: it reads the machine's wall clock once, continues with the monotonic clock, and
/// is adjusted towards the wall clock by at most 500 microseconds per second. So a step of the wall clock, by hand or
/// by NTP, neither expires the commands in flight nor postpones their deadlines; slow drift is still followed. Where
/// the clocks of other machines are heard of, the time that most of them agree on takes the place of the wall clock's,
/// which may be wrong. It never goes backwards but by <see cref="Set"/>. Timers and timestamps are those of the inner
/// clock. Thread-safe; reading takes no lock.</summary>
public sealed class SteadyTime : TimeProvider, IDisposable
{
    private static readonly TimeSpan FollowInterval = TimeSpan.FromSeconds(1);
    private static readonly long StepMaxTicks = TimeSpan.FromMicroseconds(500).Ticks;

    private readonly TimeProvider _inner;
    private readonly ClockVote _vote = new();
    private readonly long _startTimestamp;
    private readonly long _startTicks;
    private readonly ITimer _follow;
    private long _offsetTicks;
    private long _lastTicks;

    /// <summary>Starts the clock at the inner clock's current time.</summary>
    public SteadyTime(TimeProvider inner)
    {
        _inner = inner;
        Agreed = new AgreedTime(this);
        _startTimestamp = inner.GetTimestamp();
        _startTicks = inner.GetUtcNow().UtcTicks;
        _follow = inner.CreateTimer(_ => Follow(), null, FollowInterval, FollowInterval);
    }

    /// <summary>The machine's wall clock, which may step; used to compare with times that other programs
    /// have read from it.</summary>
    public TimeProvider Wall => _inner;

    /// <summary>The time that most clocks agree on, which may step; the wall clock's where fewer than two others are
    /// heard of. It is used to compare with times of other machines.</summary>
    public TimeProvider Agreed { get; }

    /// <summary>By how much the time that most clocks agree on is ahead of this clock;
    /// negative if it is behind.</summary>
    public TimeSpan Behind => new(Agreed.GetUtcNow().UtcTicks - Ticks());

    /// <summary>Whether enough clocks of other machines are heard of to outvote a wrong one.</summary>
    public bool IsDecided => _vote.IsDecided;

    /// <summary>Whether most clocks agree. If not, nobody can tell which is right.</summary>
    public bool IsCertain => _vote.MostAgree(WallReading, Reading);

    /// <summary>The clocks of other machines, and by how much each is ahead of the time that most agree on.</summary>
    public IReadOnlyList<(
        string Clock, TimeSpan Ahead)> Others => [.. _vote.AheadOf(_vote.Agreed(WallReading, Reading))];

    /// <inheritdoc/>
    public override TimeZoneInfo LocalTimeZone => _inner.LocalTimeZone;

    /// <inheritdoc/>
    public override long TimestampFrequency => _inner.TimestampFrequency;

    /// <inheritdoc/>
    public override long GetTimestamp() => _inner.GetTimestamp();

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow()
    {
        // After the offset was reduced, the last time is returned until the clock has passed it, so that
        // time never goes back.
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

    /// <summary>Notes what the clock of another machine shows.</summary>
    /// <param name="clock">Whose it is, as text for operators.</param>
    /// <param name="shown">The time that it showed.</param>
    /// <param name="precision">What it leaves out of its time: a millisecond, if it counts in whole ones.</param>
    /// <param name="asked">The timestamp when it was asked.</param>
    /// <param name="answered">The timestamp when the answer came.</param>
    public void Hear(string clock, DateTimeOffset shown, TimeSpan precision, long asked, long answered) =>
        _vote.Hear(clock, shown, precision, CountedAt(asked), CountedAt(answered));

    /// <summary>Sets this clock to the time that most clocks agree on. Back only at the start of a process,
    /// before it works with the time.</summary>
    public void Set()
    {
        Interlocked.Add(ref _offsetTicks, Behind.Ticks);
        Volatile.Write(ref _lastTicks, 0);
    }

    /// <summary>Stops following the wall clock.</summary>
    public void Dispose() => _follow.Dispose();

    // The time that this process has counted since its start.
    private long Counted => CountedAt(_inner.GetTimestamp());

    private long WallReading => _inner.GetUtcNow().UtcTicks - Counted;

    private long Reading => _startTicks + Volatile.Read(ref _offsetTicks);

    private long CountedAt(long timestamp) => _inner.GetElapsedTime(_startTimestamp, timestamp).Ticks;

    private long Ticks() => Reading + Counted;

    private void Follow()
    {
        Interlocked.Add(ref _offsetTicks, Math.Clamp(Behind.Ticks, -StepMaxTicks, StepMaxTicks));
    }

    private sealed class AgreedTime(SteadyTime time) : TimeProvider
    {
        public override long TimestampFrequency => time.TimestampFrequency;

        public override long GetTimestamp() => time.GetTimestamp();

        public override DateTimeOffset GetUtcNow()
        {
            var counted = time.Counted;
            return new DateTimeOffset(
                time._vote.Agreed(time._inner.GetUtcNow().UtcTicks - counted, time.Reading) + counted, TimeSpan.Zero);
        }

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
            time.CreateTimer(callback, state, dueTime, period);
    }
}

/// <summary>Registers the services' clock.</summary>
public static class ServiceTime
{
    /// <summary>Adds a <see cref="SteadyTime"/> as the <see cref="TimeProvider"/>, unless one is already registered,
    /// and what every service does from time to time: <see cref="ClockWatch"/> and <see cref="IdleMemory"/>.</summary>
    public static IServiceCollection AddServiceTime(this IServiceCollection services)
    {
        services.TryAddSingleton<TimeProvider>(_ => new SteadyTime(TimeProvider.System));
        services.TryAddSingleton<ClockWatch>();
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IHostedService, ClockWatch>(
            provider => provider.GetRequiredService<ClockWatch>()));
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IReadyPart, ClockWatch>(provider => provider.GetRequiredService<ClockWatch>()));
        return services.AddHostedService<IdleMemory>();
    }

    /// <summary>Returns the machine's wall clock behind the services' clock, to compare with times that other programs
    /// have read from it.</summary>
    public static TimeProvider WallClock(this TimeProvider time) => time is SteadyTime steady ? steady.Wall : time;

    /// <summary>Returns the time that most machines agree on, to compare with times of other machines.</summary>
    public static TimeProvider AgreedClock(this TimeProvider time) => time is SteadyTime steady ? steady.Agreed : time;
}
