using System.Diagnostics;
using Billing.Hosting.Telemetry;
using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>A command that was delivered to a backend.</summary>
public abstract class Delivery(Command command, PartitionAssignment assignment)
{
    private readonly long? _deadlineUnixUs;

    /// <summary>The assignment of the partition that the command was read from.</summary>
    public PartitionAssignment Assignment { get; } = assignment;

    /// <summary>When the broker appended the command, in microseconds since the Unix epoch;
    /// 0 if that is unknown.</summary>
    public long AppendedUnixUs { get; init; }

    /// <summary>Until when the command may be executed, by this process's clock, in microseconds since the Unix epoch;
    /// 0 for any time. It is what the command states, unless the clock of its proxy is wrong.</summary>
    public long DeadlineUnixUs { get => _deadlineUnixUs ?? Command.DeadlineUnixUs; init => _deadlineUnixUs = value; }

    /// <summary>When the handler accepted the command, likewise; noted only if the command's steps are timed.</summary>
    public long ConsumedUnixUs { get; set; }

    /// <summary>The command. It is shared by whoever handles it, and is not changed.</summary>
    public Command Command { get; } = command;

    /// <summary>The size of the command's record, in bytes; 0 if it came in none.</summary>
    public int Bytes { get; init; }

    /// <summary>The span of the command's processing, which ends when the command is settled;
    /// null if it is not traced.</summary>
    public Activity? Processing { get; init; }

    /// <summary>Reports to the transport that processing is complete: the reply and the event are
    /// acknowledged, or there are none. After a crash the transport delivers unsettled commands again.
    /// Thread-safe and idempotent.</summary>
    public abstract void Settle();

    /// <summary>Sends the command to the dead letters with the reason, if the transport has any, and settles
    /// it, so that it does not block the commands after it. Does not answer the sender: the code that rejects
    /// the command does.</summary>
    /// <param name="reason">Why it cannot be processed, as text for operators.</param>
    public abstract void Reject(string reason);

    /// <summary>Reports that this process leaves the command to the next owner of its partition.</summary>
    public virtual void Abandon() => EndProcessing("abandoned");

    /// <summary>Ends the span of the processing.</summary>
    /// <param name="error">The kind of error, one of a small fixed set of words; null for success.</param>
    protected void EndProcessing(string? error = null) => Tracing.End(Processing, error);
}
