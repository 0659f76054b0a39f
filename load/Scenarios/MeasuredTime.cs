namespace Billing.Scenarios;

/// <summary>The time from the first measured call to the end of the last one. NBomber divides by the time that a scenario was
/// planned for, even if the answers took longer. Safe from any thread.</summary>
internal sealed class MeasuredTime(TimeProvider time)
{
    private long _first;
    private long _last;

    /// <summary>Zero where no call has ended.</summary>
    public TimeSpan Elapsed => Volatile.Read(ref _last) == 0 ? TimeSpan.Zero : time.GetElapsedTime(_first, _last);

    /// <summary>Notes that a call goes out.</summary>
    public void Begin()
    {
        if (Volatile.Read(ref _first) == 0)
        {
            Interlocked.CompareExchange(ref _first, time.GetTimestamp(), 0);
        }
    }

    /// <summary>Notes that a call has ended.</summary>
    public void End() => Volatile.Write(ref _last, time.GetTimestamp());
}
