namespace Billing.Driver;

/// <summary>The end of a closed load: after a duration, after a number of requests, or when it is interrupted.
/// Thread-safe.</summary>
internal sealed class SendLimit(TimeProvider time, LoadShape.Closed closed, CancellationToken enough)
{
    private readonly long _start = time.GetTimestamp();
    private long _admitted;

    /// <summary>Cancelled when sending is interrupted.</summary>
    public CancellationToken Enough => enough;

    /// <summary>Decides whether a caller may send one more request, which then counts towards their number.</summary>
    /// <param name="sent">Number of requests that this caller has sent.</param>
    public bool Admits(long sent) =>
        !enough.IsCancellationRequested
        && time.GetElapsedTime(_start).TotalSeconds < closed.DurationS
        && (closed.AmountOfEach == 0 || sent < closed.AmountOfEach)
        && (closed.Amount == 0 || Interlocked.Increment(ref _admitted) <= closed.Amount);
}
