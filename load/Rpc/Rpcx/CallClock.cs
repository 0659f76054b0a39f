namespace Billing.Rpc.Rpcx;

/// <summary>Deadlines as timestamps of the monotonic clock, so that setting the wall clock does not move them.</summary>
/// <param name="time">The clock.</param>
internal sealed class CallClock(TimeProvider time)
{
    /// <summary>The deadline of a call without one.</summary>
    public const long Never = long.MaxValue;

    private const long MicrosecondsPerSecond = 1_000_000;

    private readonly long _frequency = time.TimestampFrequency;

    /// <summary>The clock for creating timers.</summary>
    public TimeProvider Time => time;

    /// <summary>The current timestamp.</summary>
    public long Now => time.GetTimestamp();

    /// <summary>Returns the deadline of a call with this timeout, counted from now.</summary>
    public long DueAfter(TimeSpan timeout) => timeout == Timeout.InfiniteTimeSpan
        ? Never
        : After(timeout.Ticks / TimeSpan.TicksPerMicrosecond);

    /// <summary>Returns the deadline of a call with this many microseconds left; 0 means no deadline.</summary>
    public long DueAfter(ulong microseconds) => microseconds == 0 ? Never : After(microseconds);

    /// <summary>Returns the microseconds left until a deadline, at least 1; 0 if there is no deadline.</summary>
    public ulong MicrosecondsLeft(long dueAt)
    {
        if (dueAt == Never)
        {
            return 0;
        }
        var left = (Int128)(dueAt - Now) * MicrosecondsPerSecond / _frequency;
        return (ulong)Int128.Max(1, left);
    }

    /// <summary>Returns the time left until a deadline, above zero; null if there is no deadline.</summary>
    public TimeSpan? Left(long dueAt)
    {
        const ulong MicrosecondsMax = long.MaxValue / TimeSpan.TicksPerMicrosecond;
        return dueAt == Never
            ? null
            : TimeSpan.FromTicks((long)Math.Min(MicrosecondsLeft(dueAt), MicrosecondsMax) * TimeSpan.TicksPerMicrosecond);
    }

    private long After(Int128 microseconds) =>
        (long)Int128.Min(Never, Now + (microseconds * _frequency / MicrosecondsPerSecond));
}
