namespace Billing.Measuring.Driving;

/// <summary>The end of sending: after a duration, after a number of requests, or when it is interrupted. Thread-safe.</summary>
internal sealed class SendLimit(TimeProvider time, TimeSpan duration, long amount, CancellationToken stopped)
{
    private readonly long _start = time.GetTimestamp();
    private long _admitted;

    /// <summary>The duration.</summary>
    public TimeSpan Duration => duration;

    /// <summary>Cancelled when sending is interrupted.</summary>
    public CancellationToken Stopped => stopped;

    /// <summary>Decides whether a closed loop may send one more request, which then counts towards the number of requests.
    /// </summary>
    public bool Admits() =>
        !stopped.IsCancellationRequested
        && time.GetElapsedTime(_start) < duration
        && (amount == 0 || Interlocked.Increment(ref _admitted) <= amount);

    /// <summary>Limits a number of requests to the maximum, if there is one.</summary>
    public long Bound(long requests) => amount == 0 ? requests : Math.Min(requests, amount);
}
