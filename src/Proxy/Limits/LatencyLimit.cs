namespace Billing.Proxy.Limits;

/// <summary>How many calls a proxy may have in flight for them to be answered within a time. By Little's law (J. D. C. Little,
/// "A Proof for the Queuing Formula L = λW", 1961) the calls in flight are their rate times their latency, so where answers
/// take longer than the target, the limit falls to what the rate of answers allows; where they do not and the limit is what
/// holds calls back, it grows. It begins low: what is admitted before anything is known has to be waited for.</summary>
/// <param name="max">Calls that there may be whatever the latency.</param>
/// <param name="target">The average time in which calls are to be answered.</param>
/// <param name="time">The clock.</param>
internal sealed class LatencyLimit(int max, TimeSpan target, TimeProvider time)
{
    /// <summary>The limit never falls below this: so few calls do not make each other wait.</summary>
    public const int Min = 16;

    private const int First = 128;

    // Enough answers for an average, and soon enough to notice.
    private const int AnswersMin = 10;
    private static readonly TimeSpan Window = TimeSpan.FromMilliseconds(100);

    private readonly Lock _gate = new();
    private int _limit = Math.Min(First, max);
    private long _windowStart = time.GetTimestamp();
    private long _answers;
    private long _ticks;
    private int _most;

    /// <summary>Calls that there may be now.</summary>
    public int Current => Volatile.Read(ref _limit);

    /// <summary>Takes note of a call that was answered.</summary>
    /// <param name="latency">How long it took.</param>
    /// <param name="inFlight">Calls in flight, this one included.</param>
    public void Answered(TimeSpan latency, int inFlight)
    {
        Interlocked.Add(ref _ticks, latency.Ticks);
        if (inFlight > Volatile.Read(ref _most))
        {
            Volatile.Write(ref _most, inFlight);
        }
        if (Interlocked.Increment(ref _answers) >= AnswersMin
            && time.GetElapsedTime(Volatile.Read(ref _windowStart)) >= Window && _gate.TryEnter())
        {
            try
            {
                Adjust();
            }
            finally
            {
                _gate.Exit();
            }
        }
    }

    private void Adjust()
    {
        var elapsed = time.GetElapsedTime(_windowStart);
        var average = TimeSpan.FromTicks(Volatile.Read(ref _ticks) / Math.Max(1, Volatile.Read(ref _answers)));
        // Whoever is answered now was admitted under the limit of that long ago: the last change has to have shown first.
        if (elapsed < Window || elapsed < average)
        {
            return;
        }
        var limit = _limit;
        if (average > target)
        {
            var answered = Volatile.Read(ref _answers) * (target / elapsed);
            limit = (int)Math.Clamp(answered, Math.Min(Min, max), limit);
        }
        else if (_most >= limit - (limit / 8))
        {
            limit = (int)Math.Min(max, average < target / 2 ? limit * 2L : limit + Math.Max(1L, limit / 10));
        }
        Volatile.Write(ref _limit, limit);
        Interlocked.Exchange(ref _answers, 0);
        Interlocked.Exchange(ref _ticks, 0);
        Volatile.Write(ref _most, 0);
        Volatile.Write(ref _windowStart, time.GetTimestamp());
    }
}
