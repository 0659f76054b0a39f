namespace Billing.Rpc.Rpcx;

/// <summary>One timer for the deadlines of many calls, set for the earliest one. Calls usually have similar timeouts and end
/// before them; the timer is then set about once per timeout.</summary>
internal sealed class DeadlineTimer : IDisposable
{
    private static readonly TimeSpan DelayMax = TimeSpan.FromDays(1);

    private readonly Lock _gate = new();
    private readonly CallClock _clock;
    private readonly Func<long, long> _expire;
    private readonly ITimer _timer;
    private long _setFor = CallClock.Never;

    /// <summary>Creates a timer that is not set.</summary>
    /// <param name="clock">The clock.</param>
    /// <param name="expire">Ends the calls whose deadline is at or before the given timestamp, and returns the earliest
    /// deadline of the rest.</param>
    public DeadlineTimer(CallClock clock, Func<long, long> expire)
    {
        _clock = clock;
        _expire = expire;
        _timer = clock.Time.CreateTimer(static self => ((DeadlineTimer)self!).Fire(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Ensures that the timer fires at this deadline or earlier. To be called after the call has been added to those
    /// that <c>expire</c> checks.</summary>
    public void Set(long dueAt)
    {
        if (dueAt >= Volatile.Read(ref _setFor))
        {
            return;
        }
        lock (_gate)
        {
            if (dueAt < _setFor)
            {
                _setFor = dueAt;
                _timer.Change(Delay(dueAt), Timeout.InfiniteTimeSpan);
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _timer.Dispose();

    // Timers have a resolution of one millisecond. The delay is rounded up so that the timer does not fire just before the
    // deadline and then a second time.
    private TimeSpan Delay(long dueAt)
    {
        var left = _clock.Left(dueAt)!.Value;
        return left > DelayMax ? DelayMax : TimeSpan.FromMilliseconds(Math.Ceiling(left.TotalMilliseconds));
    }

    private void Fire()
    {
        Volatile.Write(ref _setFor, CallClock.Never);
        Set(_expire(_clock.Now));
    }
}
