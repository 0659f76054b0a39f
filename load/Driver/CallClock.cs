using Billing.Contracts;
using Billing.Journals;

namespace Billing.Driver;

/// <summary>A wall clock that never steps back: one reading of the time, and the monotonic time since then.
/// Thread-safe.</summary>
public sealed class CallClock
{
    private const int Readings = 8;

    private readonly TimeProvider _time;
    private readonly long _startUnixUs;
    private readonly long _start;

    /// <summary>Reads the time.</summary>
    public CallClock(TimeProvider time)
    {
        _time = time;
        // The thread may be interrupted between the two readings: of several, the one that took least counts.
        var least = long.MaxValue;
        for (var reading = 0; reading < Readings; reading++)
        {
            var (before, unixUs, after) = (time.GetTimestamp(), time.Microseconds(), time.GetTimestamp());
            if (after - before < least)
            {
                (least, _startUnixUs, _start) = (after - before, unixUs, before);
            }
        }
    }

    /// <summary>The time, in microseconds since the Unix epoch.</summary>
    public long Now => _startUnixUs + (_time.GetElapsedTime(_start).Ticks / TimeSpan.TicksPerMicrosecond);

    /// <summary>The span of a call that began at a time of this clock and ends now.</summary>
    public CallSpan Since(long beganUnixUs) => new(beganUnixUs, Now);
}
