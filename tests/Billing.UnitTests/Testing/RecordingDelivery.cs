using Billing.Messaging;
using Billing.Wire.V1;

namespace Billing.UnitTests.Testing;

/// <summary>A delivery that records whether it was settled, rejected or abandoned.</summary>
internal sealed class RecordingDelivery(Command command, PartitionAssignment? assignment = null)
    : Delivery(command, assignment ?? PartitionAssignment.Permanent)
{
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public bool IsSettled { get; private set; }

    /// <summary>Completes when it is settled, rejected or abandoned.</summary>
    public Task Ended => _ended.Task;

    public string? Rejection { get; private set; }

    public override void Settle()
    {
        IsSettled = true;
        _ended.TrySetResult();
    }

    public override void Reject(string reason)
    {
        Rejection = reason;
        _ended.TrySetResult();
    }

    public override void Abandon()
    {
        base.Abandon();
        _ended.TrySetResult();
    }
}
