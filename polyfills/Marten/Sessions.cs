using Marten.Events;

namespace Marten;

public interface IQuerySession : IDisposable, IAsyncDisposable
{
    public IQueryEventStore Events { get; }
}

public interface IDocumentOperations : IQuerySession
{
    public new IEventStoreOperations Events { get; }

    /// <remarks>One statement; each question mark, wherever it stands, is a parameter.</remarks>
    public void QueueSqlCommand(string sql, params object[] parameterValues);
}

public interface IDocumentSession : IDocumentOperations
{
    public new IEventStoreOperations Events { get; }

    public Task SaveChangesAsync(CancellationToken token = default);
}
