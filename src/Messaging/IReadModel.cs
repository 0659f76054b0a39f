using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>A read model that is kept up to date with events. A transport first resets it, then applies every event
/// published since before the reset: at least once, and in order within each account except for repeated deliveries.
/// Earlier events are in the event store.</summary>
public interface IReadModel
{
    /// <summary>Forgets everything: events that were published before may have been missed. Never blocks.</summary>
    void Reset();

    /// <summary>Applies events. Never blocks and never throws; called from one thread at a time.</summary>
    void Apply(IReadOnlyList<Event> events);
}
