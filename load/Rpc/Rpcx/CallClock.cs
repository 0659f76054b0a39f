namespace Billing.Rpc.Rpcx;

/// <summary>Deadlines in microseconds of the monotonic clock, so that setting the wall clock does not move them.</summary>
internal sealed class CallClock(TimeProvider time)
{
    /// <summary>The deadline of a call without one.</summary>
    public const long Never = long.MaxValue;

    // A deadline in some centuries is none. The limit keeps every sum below within its type.
    private const long MicrosecondsMax = Never / 1_000;

    private readonly long _start = time.GetTimestamp();

    public TimeProvider Time => time;

    public long Now => time.GetElapsedTime(_start).Ticks / TimeSpan.TicksPerMicrosecond;

    /// <summary>Returns the deadline of a call with this timeout, counted from now.</summary>
    public long DueAfter(TimeSpan timeout) =>
        timeout == Timeout.InfiniteTimeSpan ? Never : After((ulong)(timeout.Ticks / TimeSpan.TicksPerMicrosecond));

    /// <summary>Returns the deadline of a call with this many microseconds left; 0 means no deadline.</summary>
    public long DueAfter(ulong microseconds) => microseconds == 0 ? Never : After(microseconds);

    /// <summary>Returns the microseconds left until a deadline, at least 1; 0 if there is no deadline.</summary>
    public ulong MicrosecondsLeft(long dueAt) => dueAt == Never ? 0 : (ulong)Math.Max(1, dueAt - Now);

    /// <summary>Returns the time left until a deadline, above zero; null if there is no deadline.</summary>
    public TimeSpan? Left(long dueAt) =>
        dueAt == Never ? null : TimeSpan.FromTicks((long)MicrosecondsLeft(dueAt) * TimeSpan.TicksPerMicrosecond);

    private long After(ulong microseconds) => microseconds > MicrosecondsMax ? Never : Now + (long)microseconds;
}
