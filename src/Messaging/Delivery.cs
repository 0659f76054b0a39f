using System.Diagnostics;
using Billing.Messaging.Telemetry;
using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>A command as it reached a backend.</summary>
public abstract class Delivery(Command command, SourcePartition partition)
{
    /// <summary>Where the command came from.</summary>
    public SourcePartition Partition { get; } = partition;

    /// <summary>The command.</summary>
    public Command Command { get; } = command;

    /// <summary>The span of the command's processing, which ends when it is settled; null where it is not traced.</summary>
    public Activity? Processing { get; init; }

    /// <summary>Tells the transport that the command is done with: its answer and its event are acknowledged, or there is
    /// nothing to say. Until then a crash makes the transport deliver it again. Safe from any thread, and more than once.
    /// </summary>
    public abstract void Settle();

    /// <summary>Puts the command aside, with the reason, where the transport can, and settles it: it must not block the
    /// commands behind it. Its sender is told by whoever rejects it.</summary>
    /// <param name="reason">Why it cannot be processed, for a person.</param>
    public abstract void Reject(string reason);

    /// <summary>Ends the span of the processing.</summary>
    /// <param name="error">What went wrong, a word of few; null where nothing did.</param>
    protected void EndProcessing(string? error = null) => Tracing.End(Processing, error);
}
