namespace Billing.Proxy.Limits;

/// <summary>An adaptive limit on the calls in flight that keeps their average latency below a target. By Little's law
/// (J. D. C. Little, "A Proof for the Queuing Formula L = λW", 1961) the number of calls in flight is their rate times
/// their latency. So when answers take longer than the target, the limit falls to the rate of answers times the target;
/// when they do not, and the calls in flight are near the limit, it grows. It starts low, since calls admitted before
/// anything is known have to be waited for. It never passes <paramref name="max"/>, whatever the latency.</summary>
internal sealed class LatencyLimit(int max, TimeSpan target, TimeProvider time)
{
    /// <summary>The limit never falls below this: so few calls do not delay each other.</summary>
    public const int Min = 16;

    private const int First = 128;

    // Enough answers for an average, and a window short enough to react soon.
    private const int AnswersMin = 10;
    private static readonly TimeSpan Window = TimeSpan.FromMilliseconds(100);

    private readonly Lock _gate = new();
    private int _limit = Math.Min(First, max);
    private long _windowStart = time.GetTimestamp();
    private long _answers;
    private long _ticks;
    private int _most;

    /// <summary>The current limit on the calls in flight.</summary>
    public int Current => Volatile.Read(ref _limit);

    /// <summary>Records the latency of an answered call.</summary>
    /// <param name="latency">The latency.</param>
    /// <param name="inFlight">Number of calls in flight, including this one.</param>
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
        // Calls answered now were admitted one latency ago, under the limit of that time:
        // the last change has to take effect first.
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
