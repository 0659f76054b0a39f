namespace Billing.Driver;

/// <summary>Limits the rate of any number of callers together. Missed turns are not made up for, so that a pause of the
/// system is not followed by a burst. Thread-safe.</summary>
/// <param name="perSecond">Turns per second, above 0.</param>
/// <param name="time">The clock.</param>
public sealed class Pace(double perSecond, TimeProvider time)
{
    private readonly Lock _gate = new();
    private readonly long _interval = (long)(time.TimestampFrequency / perSecond);
    private long _next;

    /// <summary>Waits for the caller's turn.</summary>
    public Task TakeTurnAsync(CancellationToken cancellationToken)
    {
        long turn;
        var now = time.GetTimestamp();
        lock (_gate)
        {
            turn = Math.Max(_next, now);
            _next = turn + _interval;
        }
        return turn == now ? Task.CompletedTask : Task.Delay(time.GetElapsedTime(now, turn), time, cancellationToken);
    }
}
