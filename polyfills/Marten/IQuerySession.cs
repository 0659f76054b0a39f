using System.Data.Common;
using Marten.Events;
using Npgsql;

namespace Marten;

public interface IQuerySession : IDisposable, IAsyncDisposable
{
    public IQueryEventStore Events { get; }

    public IDocumentStore DocumentStore { get; }

    /// <summary>Opens a connection, which the session then keeps until it is disposed of.</summary>
    public NpgsqlConnection Connection { get; }

    public string TenantId { get; }

    public string? CausationId { get; set; }

    public string? CorrelationId { get; set; }

    public Task<T?> LoadAsync<T>(string id, CancellationToken token = default)
        where T : notnull;

    public Task<T?> LoadAsync<T>(object id, CancellationToken token = default)
        where T : notnull;

    public Task<T?> LoadAsync<T>(int id, CancellationToken token = default)
        where T : notnull;

    public Task<T?> LoadAsync<T>(long id, CancellationToken token = default)
        where T : notnull;

    public Task<T?> LoadAsync<T>(Guid id, CancellationToken token = default)
        where T : notnull;

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(params string[] ids)
        where T : notnull;

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(IEnumerable<string> ids)
        where T : notnull;

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(params Guid[] ids)
        where T : notnull;

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(IEnumerable<Guid> ids)
        where T : notnull;

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(CancellationToken token, params string[] ids)
        where T : notnull;

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(CancellationToken token, IEnumerable<string> ids)
        where T : notnull;

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(CancellationToken token, params Guid[] ids)
        where T : notnull;

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(CancellationToken token, IEnumerable<Guid> ids)
        where T : notnull;

    public Task<int> ExecuteAsync(NpgsqlCommand command, CancellationToken token = default);

    /// <summary>Disposing of the reader gives its connection back, unless the session keeps it.</summary>
    public Task<DbDataReader> ExecuteReaderAsync(NpgsqlCommand command, CancellationToken token = default);
}
