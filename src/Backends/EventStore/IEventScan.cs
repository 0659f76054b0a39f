namespace Billing.Backends.EventStore;

/// <summary>Reads the events of all accounts, one page at a time.</summary>
public interface IEventScan
{
    /// <summary>The sequence number of the last event, which is about the number of events; zero if there are none.
    /// </summary>
    Task<long> LastAsync(CancellationToken cancellationToken);

    /// <summary>Reads a page, in the order of the sequence numbers.</summary>
    /// <param name="after">The sequence number of the last event already read, or <see cref="EventScan.Start"/>.</param>
    /// <param name="limit">The most events to read.</param>
    /// <param name="take">Called with each event, in order, while the page is read.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The number of events read and the sequence number of the last.</returns>
    Task<(int Count, long Last)> ReadPageAsync(
        long after, int limit, Action<StoredEvent> take, CancellationToken cancellationToken);
}
