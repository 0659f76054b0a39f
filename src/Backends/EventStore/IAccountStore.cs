using Billing.Backends.Domain;

namespace Billing.Backends.EventStore;

/// <summary>The event store as the billing platform uses it: every call is one round trip or one transaction, however many
/// accounts it touches. What its failures mean is <see cref="EventStoreFailure"/>'s to say.</summary>
public interface IAccountStore
{
    /// <summary>Reads accounts as of their last event, all as of one moment.</summary>
    /// <param name="streamIds">The accounts' streams, each once.</param>
    /// <param name="opened">What an account without events is like.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>Every account asked for.</returns>
    Task<Dictionary<string, Account>> LoadAsync(string[] streamIds, Account opened, CancellationToken cancellationToken);

    /// <summary>Finds what was recorded for transactions.</summary>
    /// <returns>The event of each transaction id that has one.</returns>
    Task<Dictionary<Guid, Wire.V1.Event>> FindReceiptsAsync(Guid[] transactionIds, CancellationToken cancellationToken);

    /// <summary>Appends the events of a batch, with a receipt for each transaction, in one transaction.</summary>
    /// <param name="batch">Events in order; each stream's versions follow one another.</param>
    /// <param name="cancellationToken">Ends the wait; what was committed by then is unknown.</param>
    /// <exception cref="Exception">Nothing of the batch is stored, unless the connection broke while committing: a stream has
    /// moved on, a transaction id has a receipt already, or the store failed; see <see cref="EventStoreFailure"/>.</exception>
    Task AppendAsync(IReadOnlyList<NewEvent> batch, CancellationToken cancellationToken);
}
