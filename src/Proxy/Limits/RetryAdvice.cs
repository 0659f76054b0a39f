namespace Billing.Proxy.Limits;

/// <summary>What refused callers are told to wait: the longer, the more are refused for each that is let in, and each a different
/// time, so that they do not all come back at once.</summary>
/// <param name="wait">What a caller waits on average where hardly any is refused.</param>
/// <param name="time">The clock.</param>
internal sealed class RetryAdvice(TimeSpan wait, TimeProvider time)
{
    private const double FactorMax = 50;

    // Multiples of the golden ratio's fractional part lie evenly in 0 to 1, wherever one begins and ends to count
    // (D. E. Knuth, The Art of Computer Programming 3, section 6.4).
    private const double Golden = 0.6180339887498949;

    private static readonly TimeSpan Period = TimeSpan.FromSeconds(1);

    private readonly long _start = time.GetTimestamp();
    private long _period;
    private long _refused;
    private long _admitted;
    private double _factor = 1;
    private long _advised;

    /// <summary>Takes note of a call that was let in.</summary>
    public void Admitted() => Interlocked.Increment(ref _admitted);

    /// <summary>What the caller of a call that is refused is told to wait.</summary>
    public TimeSpan Refused()
    {
        Interlocked.Increment(ref _refused);
        var period = time.GetElapsedTime(_start).Ticks / Period.Ticks;
        var before = Volatile.Read(ref _period);
        if (period != before && Interlocked.CompareExchange(ref _period, period, before) == before)
        {
            var admitted = Interlocked.Exchange(ref _admitted, 0);
            var refused = Interlocked.Exchange(ref _refused, 0);
            Volatile.Write(ref _factor, Math.Clamp((admitted + refused) / (double)Math.Max(1, admitted), 1, FactorMax));
        }
        var place = Interlocked.Increment(ref _advised) * Golden % 1;
        return wait * Volatile.Read(ref _factor) * (0.5 + place);
    }
}
