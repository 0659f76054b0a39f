using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>A read model that is built from events and kept up to date with them. A transport first rebuilds it, then applies
/// every event published since before the rebuild began: at least once, and in order within each account except for
/// repeated deliveries.</summary>
public interface IReadModel
{
    /// <summary>Rebuilds the model from the event store.</summary>
    Task RebuildAsync(CancellationToken cancellationToken);

    /// <summary>Applies events. Never blocks and never throws; called from one thread at a time, possibly while a rebuild runs.
    /// </summary>
    void Apply(IReadOnlyList<Event> events);
}
