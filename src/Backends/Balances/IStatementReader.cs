namespace Billing.Backends.Balances;

/// <summary>Reads the statement of an account, one page at a time.</summary>
public interface IStatementReader
{
    /// <summary>Reads a page; the page of an account without events is empty.</summary>
    /// <param name="request">A request that is valid under the contract.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="InvalidOperationException">The store holds an event that this program does not know.</exception>
    Task<Wire.V1.StatementPage> ReadAsync(Wire.V1.StatementPageRequest request, CancellationToken cancellationToken);
}
