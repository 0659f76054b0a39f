using Billing.Contracts;
using Billing.Hosting;
using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>Until when a command may be executed, by this process's clock. A proxy states it as a time of its own
/// clock, which may be wrong, as may be the broker's. Each command shows both, so with this process's clock there are
/// three, of which two are right.</summary>
internal static class CommandDeadline
{
    /// <summary>How long a command may wait in its proxy for a broker that takes it; then it is given up.</summary>
    public static readonly TimeSpan SendingMax = TimeSpan.FromSeconds(30);

    private static readonly long AheadMaxUs = (long)ClockVote.Tolerance.TotalMicroseconds;
    private static readonly long BehindMaxUs = (long)(SendingMax + ClockVote.Tolerance).TotalMicroseconds;

    /// <summary>The deadline; 0 if the command has none.</summary>
    /// <param name="command">The command.</param>
    /// <param name="appendedUnixUs">When a broker appended it, by the broker's clock; 0 if unknown.</param>
    /// <param name="time">This process's clock.</param>
    public static long Of(Command command, long appendedUnixUs, TimeProvider time)
    {
        var (received, deadline) = (command.ReceivedUnixUs, command.DeadlineUnixUs);
        if (deadline == 0 || received <= 0 || appendedUnixUs <= 0 || deadline < received
            || (received >= appendedUnixUs - BehindMaxUs && received <= appendedUnixUs + AheadMaxUs))
        {
            return deadline;
        }
        // What a clock that is ahead shows is later than now. What one shows that is behind is earlier than the other.
        var latest = Math.Max(received, appendedUnixUs);
        var start = latest > time.Microseconds() + AheadMaxUs ? Math.Min(received, appendedUnixUs) : latest;
        return (long)Int128.Min(long.MaxValue, (Int128)start + deadline - received);
    }
}
