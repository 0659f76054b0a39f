using Billing.Backends.Domain;

namespace Billing.Backends.EventStore;

/// <summary>The event store as the billing platform uses it: every call is one round trip or one transaction, however many
/// accounts it touches. <see cref="EventStoreFailure"/> classifies its failures.</summary>
public interface IAccountStore
{
    /// <summary>Reads the current state of accounts, all as of one moment.</summary>
    /// <param name="streamIds">The accounts' streams, each once.</param>
    /// <param name="opened">The state of an account without events.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>Every requested account, by its stream id.</returns>
    Task<Dictionary<string, Account>> LoadAsync(string[] streamIds, Account opened, CancellationToken cancellationToken);

    /// <summary>Finds the receipts of transactions.</summary>
    /// <returns>The recorded event of each transaction id that has one.</returns>
    Task<Dictionary<Guid, Wire.V1.Event>> FindReceiptsAsync(Guid[] transactionIds, CancellationToken cancellationToken);

    /// <summary>Appends the events of a batch, with a receipt for each transaction, in one transaction.</summary>
    /// <param name="batch">Events in order; each stream's versions follow one another.</param>
    /// <param name="cancellationToken">Ends the wait; whether the batch was committed by then is unknown.</param>
    /// <exception cref="Exception">A stream's version has changed, a transaction id already has a receipt, or the store failed;
    /// see <see cref="EventStoreFailure"/>. Nothing of the batch is stored, unless the connection broke during the commit.
    /// </exception>
    Task AppendAsync(IReadOnlyList<NewEvent> batch, CancellationToken cancellationToken);
}
