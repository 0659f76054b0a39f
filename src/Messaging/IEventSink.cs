using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>Takes over published events for good: at least once, and those of an account in the order in which
/// they were published.</summary>
public interface IEventSink
{
    /// <summary>Takes over events. If it fails, it is called again with the same events; once it has succeeded,
    /// maybe never again.</summary>
    Task TakeAsync(IReadOnlyList<Event> events, CancellationToken cancellationToken);

    /// <summary>States that the topic has lost events that were never taken over.</summary>
    void Miss(long count);
}
