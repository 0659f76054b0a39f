using Billing.Messaging;
using Billing.Wire.V1;

namespace Billing.UnitTests.Testing;

/// <summary>A delivery that records whether it was settled or rejected.</summary>
internal sealed class RecordingDelivery(Command command, PartitionAssignment? assignment = null)
    : Delivery(command, assignment ?? PartitionAssignment.Permanent)
{
    public bool IsSettled { get; private set; }

    public string? Rejection { get; private set; }

    public override void Settle() => IsSettled = true;

    public override void Reject(string reason) => Rejection = reason;
}
