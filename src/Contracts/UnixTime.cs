namespace Billing.Contracts;

/// <summary>The wire contract's clock: microseconds since the Unix epoch.</summary>
public static class UnixTime
{
    private static readonly long DateMax = Microseconds(DateTimeOffset.MaxValue);

    /// <summary>Whether a number of microseconds since the Unix epoch is a valid time:
    /// above zero and before the year 10000.</summary>
    public static bool IsDate(long microseconds) => microseconds > 0 && microseconds <= DateMax;

    /// <summary>The current time in microseconds since the Unix epoch.</summary>
    public static long Microseconds(this TimeProvider time) => Microseconds(time.GetUtcNow());

    /// <summary>A time in microseconds since the Unix epoch.</summary>
    public static long Microseconds(DateTimeOffset at) =>
        (at - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;

    /// <summary>The time that is this many microseconds after the Unix epoch.</summary>
    public static DateTimeOffset FromMicroseconds(long microseconds) =>
        DateTimeOffset.UnixEpoch.AddTicks(microseconds * TimeSpan.TicksPerMicrosecond);
}
