namespace Billing.Testing;

/// <summary>A clock that advances only when a test calls <see cref="Advance"/>, which also fires the timers in the
/// order in which they are due. The wall clock can be set, which affects neither timers nor timestamps.</summary>
public sealed class ManualTime : TimeProvider
{
    private readonly Lock _gate = new();
    private readonly List<ManualTimer> _timers = [];
    private readonly List<TimeSpan> _delays = [];
    private TimeSpan _set;
    private DateTimeOffset _now = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    /// <summary>The due times of all timers requested so far, in order.</summary>
    public IReadOnlyList<TimeSpan> Delays
    {
        get
        {
            lock (_gate)
            {
                return [.. _delays];
            }
        }
    }

    /// <summary>Whether a timer waits for its due time.</summary>
    public bool HasTimers
    {
        get
        {
            lock (_gate)
            {
                return _timers.Count > 0;
            }
        }
    }

    public override DateTimeOffset GetUtcNow()
    {
        lock (_gate)
        {
            return _now + _set;
        }
    }

    public override long GetTimestamp()
    {
        lock (_gate)
        {
            return _now.UtcTicks;
        }
    }

    /// <summary>Sets the wall clock forward or back.</summary>
    public void Set(TimeSpan by)
    {
        lock (_gate)
        {
            _set += by;
        }
    }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new ManualTimer(this, () => callback(state));
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Advances the clock and fires the timers that become due, on this thread.</summary>
    public void Advance(TimeSpan by)
    {
        var end = new DateTimeOffset(GetTimestamp(), TimeSpan.Zero) + by;
        while (TakeDue(end) is { } fire)
        {
            fire();
        }
    }

    /// <summary>Advances the clock in steps of one second until the work is done. Between two steps there is time for
    /// what does not follow this clock, such as a network.</summary>
    /// <exception cref="TimeoutException">After six hours on this clock it was not.</exception>
    public Task RunToEndAsync(Task work) => RunToEndAsync(work, TimeSpan.FromSeconds(1));

    /// <summary>Does the same in steps of another length.</summary>
    /// <exception cref="TimeoutException">After six hours on this clock it was not done.</exception>
    public async Task RunToEndAsync(Task work, TimeSpan step)
    {
        var end = GetUtcNow().AddHours(6);
        while (!work.IsCompleted)
        {
            if (GetUtcNow() > end)
            {
                throw new TimeoutException("The work does not end.");
            }
            Advance(step);
            await Task.WhenAny(work, Task.Delay(TimeSpan.FromMilliseconds(1)));
        }
        await work;
    }

    private Action? TakeDue(DateTimeOffset end)
    {
        lock (_gate)
        {
            var next = _timers.Where(t => t.DueAt <= end).MinBy(t => t.DueAt);
            if (next is null)
            {
                _now = end;
                return null;
            }
            _now = next.DueAt;
            if (next.Period > TimeSpan.Zero)
            {
                next.DueAt += next.Period;
            }
            else
            {
                _timers.Remove(next);
            }
            return next.Fire;
        }
    }

    private sealed class ManualTimer(ManualTime time, Action fire) : ITimer
    {
        public Action Fire => fire;

        public DateTimeOffset DueAt { get; set; }

        public TimeSpan Period { get; private set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (time._gate)
            {
                time._timers.Remove(this);
                if (dueTime != Timeout.InfiniteTimeSpan)
                {
                    time._delays.Add(dueTime);
                    DueAt = time._now + dueTime;
                    Period = period;
                    time._timers.Add(this);
                }
            }
            return true;
        }

        public void Dispose()
        {
            lock (time._gate)
            {
                time._timers.Remove(this);
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
