using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>Something that is built from events and kept up to date with them. A transport rebuilds it first, then hands it
/// every event published since before the rebuild began: at least once, and one account's events in order, but for
/// repetitions.</summary>
public interface IReadModel
{
    /// <summary>Rebuilds the model from the event store.</summary>
    Task RebuildAsync(CancellationToken cancellationToken);

    /// <summary>Takes events in. Never blocks and never throws; called from one thread at a time, and possibly while a rebuild
    /// runs.</summary>
    void Apply(IReadOnlyList<Event> events);
}
