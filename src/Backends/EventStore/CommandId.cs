using Billing.Messaging;

namespace Billing.Backends.EventStore;

/// <summary>What a command is known by, however often it comes: a transaction id belongs to the account that it was
/// sent for, and means something else for another account.</summary>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="StreamId">The account's stream.</param>
public readonly record struct CommandId(Guid TransactionId, string StreamId)
{
    /// <summary>The id under which the event store holds the event of this command, and at most one.</summary>
    public Guid EventId => EventIds.Of(TransactionId, StreamId);
}
