namespace Billing.Scenarios;

/// <summary>The time from the first measured call to the end of the last one. NBomber divides by the planned duration
/// of a scenario, even if the answers took longer. Thread-safe.</summary>
internal sealed class MeasuredTime(TimeProvider time)
{
    private long _first;
    private long _last;

    /// <summary>The measured time; zero if no call has ended.</summary>
    public TimeSpan Elapsed => Volatile.Read(ref _last) == 0 ? TimeSpan.Zero : time.GetElapsedTime(_first, _last);

    /// <summary>Records that a call is sent.</summary>
    public void Begin()
    {
        if (Volatile.Read(ref _first) == 0)
        {
            Interlocked.CompareExchange(ref _first, time.GetTimestamp(), 0);
        }
    }

    /// <summary>Records that a call has ended.</summary>
    public void End() => Volatile.Write(ref _last, time.GetTimestamp());
}
