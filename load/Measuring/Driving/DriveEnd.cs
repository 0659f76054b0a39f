namespace Billing.Measuring.Driving;

/// <summary>When sending ends: after a time, after an amount, or when someone stops it. Safe from any thread.</summary>
internal sealed class DriveEnd(TimeProvider time, TimeSpan duration, long amount, CancellationToken stopped)
{
    private readonly long _start = time.GetTimestamp();
    private long _admitted;

    /// <summary>The time.</summary>
    public TimeSpan Duration => duration;

    /// <summary>Cancelled when someone stopped it.</summary>
    public CancellationToken Stopped => stopped;

    /// <summary>Whether one more request of a closed loop may go out; it then counts towards the amount.</summary>
    public bool Admits() =>
        !stopped.IsCancellationRequested
        && time.GetElapsedTime(_start) < duration
        && (amount == 0 || Interlocked.Increment(ref _admitted) <= amount);

    /// <summary>A number of requests, but at most the amount.</summary>
    public long Bound(long requests) => amount == 0 ? requests : Math.Min(requests, amount);
}
