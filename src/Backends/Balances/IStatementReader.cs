namespace Billing.Backends.Balances;

/// <summary>Reads what happened to an account, a page at a time.</summary>
public interface IStatementReader
{
    /// <summary>Reads a page; an account without events has an empty one.</summary>
    /// <param name="request">A request that keeps the rules of the contract.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="InvalidOperationException">The store holds an event that this program does not know.</exception>
    Task<Wire.V1.StatementPage> ReadAsync(Wire.V1.StatementPageRequest request, CancellationToken cancellationToken);
}
