namespace Billing.Rpc.Rpcx;

/// <summary>The calls of one connection that have not ended, by id, and one timer for their deadlines. Whoever removes a call ends
/// it, so it ends once.</summary>
/// <remarks>The timer is set for the earliest deadline. Calls usually have similar timeouts and end before them; the timer is then
/// set about once per timeout.</remarks>
internal sealed class CallTable<TCall> : IDisposable
    where TCall : class
{
    private static readonly TimeSpan DelayMax = TimeSpan.FromDays(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<ulong, (TCall Call, long DueAt)> _calls = [];
    private readonly CallClock _clock;
    private readonly Action<ulong, TCall> _expired;
    private readonly ITimer _timer;
    private long _timerSetFor = CallClock.Never;
    private bool _closed;

    /// <param name="clock">The clock.</param>
    /// <param name="expired">Ends a call that was removed because its deadline has passed.</param>
    public CallTable(CallClock clock, Action<ulong, TCall> expired)
    {
        _clock = clock;
        _expired = expired;
        _timer = clock.Time.CreateTimer(
            static self => ((CallTable<TCall>)self!).Expire(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _calls.Count;
            }
        }
    }

    /// <summary>Adds a call.</summary>
    /// <returns>False if its id is in use or the table is closed.</returns>
    public bool TryAdd(ulong id, TCall call, long dueAt)
    {
        lock (_gate)
        {
            if (_closed || !_calls.TryAdd(id, (call, dueAt)))
            {
                return false;
            }
            SetTimer(dueAt);
            return true;
        }
    }

    /// <summary>Removes the call with an id; with <paramref name="only"/>, only if it is that call.</summary>
    /// <returns>Null if there is none.</returns>
    public TCall? Remove(ulong id, TCall? only = null)
    {
        lock (_gate)
        {
            if (!_calls.TryGetValue(id, out var entry) || (only is not null && entry.Call != only))
            {
                return null;
            }
            _calls.Remove(id);
            return entry.Call;
        }
    }

    /// <summary>Removes all calls and accepts no more.</summary>
    public List<TCall> Close()
    {
        lock (_gate)
        {
            _closed = true;
            List<TCall> calls = [.. _calls.Values.Select(entry => entry.Call)];
            _calls.Clear();
            return calls;
        }
    }

    public void Dispose() => _timer.Dispose();

    private void Expire()
    {
        List<KeyValuePair<ulong, (TCall Call, long DueAt)>> overdue;
        lock (_gate)
        {
            var now = _clock.Now;
            overdue = [.. _calls.Where(entry => entry.Value.DueAt <= now)];
            overdue.ForEach(entry => _calls.Remove(entry.Key));
            _timerSetFor = CallClock.Never;
            SetTimer(_calls.Values.Select(entry => entry.DueAt).DefaultIfEmpty(CallClock.Never).Min());
        }
        overdue.ForEach(entry => _expired(entry.Key, entry.Value.Call));
    }

    private void SetTimer(long dueAt)
    {
        if (dueAt >= _timerSetFor)
        {
            return;
        }
        _timerSetFor = dueAt;
        var left = _clock.Left(dueAt)!.Value;
        // Timers have a resolution of one millisecond. The delay is rounded up so that the timer does not fire just before the
        // deadline and then a second time.
        _timer.Change(left > DelayMax ? DelayMax : TimeSpan.FromMilliseconds(Math.Ceiling(left.TotalMilliseconds)), Timeout.InfiniteTimeSpan);
    }
}
