namespace Billing.Backends.EventStore;

/// <summary>Reads the events of all accounts, a page at a time.</summary>
public interface IEventScan
{
    /// <summary>The sequence number of the last event; about as many events as there are. Zero where there are none.
    /// </summary>
    Task<long> LastAsync(CancellationToken cancellationToken);

    /// <summary>Reads a page, in the order of the sequence numbers.</summary>
    /// <param name="after">The sequence number of the last event already read, or <see cref="EventScan.Start"/>.</param>
    /// <param name="limit">Events to read at most.</param>
    /// <param name="take">Is given each event, in order, while the page is read.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The number of events read and the sequence number of the last.</returns>
    Task<(int Count, long Last)> ReadPageAsync(
        long after, int limit, Action<StoredEvent> take, CancellationToken cancellationToken);
}
