using Marten.Events;

namespace Marten;

public interface IDocumentOperations : IQuerySession
{
    public new IEventStoreOperations Events { get; }

    public void Store<T>(IEnumerable<T> entities)
        where T : notnull;

    public void Store<T>(params T[] entities)
        where T : notnull;

    public void Insert<T>(IEnumerable<T> entities)
        where T : notnull;

    public void Insert<T>(params T[] entities)
        where T : notnull;

    public void Update<T>(IEnumerable<T> entities)
        where T : notnull;

    public void Update<T>(params T[] entities)
        where T : notnull;

    public void Delete<T>(T entity)
        where T : notnull;

    public void Delete<T>(int id)
        where T : notnull;

    public void Delete<T>(long id)
        where T : notnull;

    public void Delete<T>(object id)
        where T : notnull;

    public void Delete<T>(Guid id)
        where T : notnull;

    public void Delete<T>(string id)
        where T : notnull;

    /// <remarks>One statement; each question mark, wherever it stands, is a parameter.</remarks>
    public void QueueSqlCommand(string sql, params object[] parameterValues);

    public void QueueSqlCommand(char placeholder, string sql, params object[] parameterValues);
}

public interface IDocumentSession : IDocumentOperations
{
    public new IEventStoreOperations Events { get; }

    public string? LastModifiedBy { get; set; }

    public Task SaveChangesAsync(CancellationToken token = default);

    public void EjectAllPendingChanges();

    public void SetHeader(string key, object value);

    public object? GetHeader(string key);
}
