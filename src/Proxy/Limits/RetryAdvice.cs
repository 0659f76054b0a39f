namespace Billing.Proxy.Limits;

/// <summary>The delay that refused callers are told to wait before a retry. On average it is <paramref name="wait"/>
/// while hardly any call is refused. It grows with the ratio of calls made to calls admitted, and differs from caller
/// to caller, so that they do not all retry at the same time.</summary>
internal sealed class RetryAdvice(TimeSpan wait, TimeProvider time)
{
    private const double FactorMax = 50;

    private static readonly TimeSpan Period = TimeSpan.FromSeconds(1);

    private readonly Spread _spread = new();
    private readonly long _start = time.GetTimestamp();
    private long _period;
    private long _refused;
    private long _admitted;
    private double _factor = 1;

    /// <summary>Counts an admitted call.</summary>
    public void Admitted() => Interlocked.Increment(ref _admitted);

    /// <summary>Counts a refused call and returns the delay for its caller.</summary>
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
        return wait * Volatile.Read(ref _factor) * (0.5 + _spread.Next());
    }
}
