using System.Data;
using System.Data.Common;
using Marten.Events;
using Npgsql;
using NpgsqlTypes;

namespace Marten.Internal;

/// <summary>A session holds no connection until its Connection is asked for.</summary>
internal class QuerySession(DocumentStore store) : IQuerySession
{
    private NpgsqlConnection? _connection;
    private EventStore? _events;

    public DocumentStore Owner { get; } = store;

    public IDocumentStore DocumentStore => Owner;

    public IQueryEventStore Events => EventStore;

    public string TenantId => TypeNames.DefaultTenant;

    public string? CausationId { get; set; }

    public string? CorrelationId { get; set; }

    public NpgsqlConnection Connection => _connection ??= Owner.DataSource.OpenConnection();

    protected EventStore EventStore => _events ??= new EventStore(this);

    protected bool HasEvents => _events is { Pending.Count: > 0 };

    public Task<T?> LoadAsync<T>(string id, CancellationToken token = default)
        where T : notnull
        => LoadOneAsync<T>(id, token);

    public Task<T?> LoadAsync<T>(object id, CancellationToken token = default)
        where T : notnull
        => LoadOneAsync<T>(id, token);

    public Task<T?> LoadAsync<T>(int id, CancellationToken token = default)
        where T : notnull
        => LoadOneAsync<T>(
            Owner.Options.Documents.For(typeof(T)).IdDbType == NpgsqlDbType.Bigint ? (long)id : id,
            token);

    public Task<T?> LoadAsync<T>(long id, CancellationToken token = default)
        where T : notnull
        => LoadOneAsync<T>(id, token);

    public Task<T?> LoadAsync<T>(Guid id, CancellationToken token = default)
        where T : notnull
        => LoadOneAsync<T>(id, token);

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(params string[] ids)
        where T : notnull
        => LoadSomeAsync<T>([.. ids], CancellationToken.None);

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(IEnumerable<string> ids)
        where T : notnull
        => LoadSomeAsync<T>([.. ids], CancellationToken.None);

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(params Guid[] ids)
        where T : notnull
        => LoadSomeAsync<T>([.. ids], CancellationToken.None);

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(IEnumerable<Guid> ids)
        where T : notnull
        => LoadSomeAsync<T>([.. ids], CancellationToken.None);

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(CancellationToken token, params string[] ids)
        where T : notnull
        => LoadSomeAsync<T>([.. ids], token);

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(CancellationToken token, IEnumerable<string> ids)
        where T : notnull
        => LoadSomeAsync<T>([.. ids], token);

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(CancellationToken token, params Guid[] ids)
        where T : notnull
        => LoadSomeAsync<T>([.. ids], token);

    public Task<IReadOnlyList<T>> LoadManyAsync<T>(CancellationToken token, IEnumerable<Guid> ids)
        where T : notnull
        => LoadSomeAsync<T>([.. ids], token);

    public async Task<int> ExecuteAsync(NpgsqlCommand command, CancellationToken token = default)
    {
        var connection = await OpenAsync(token).ConfigureAwait(false);
        try
        {
            command.Connection = connection;
            return await Failures.TranslateAsync(() => command.ExecuteNonQueryAsync(token), command)
                .ConfigureAwait(false);
        }
        finally
        {
            await ReleaseAsync(connection).ConfigureAwait(false);
        }
    }

    public async Task<DbDataReader> ExecuteReaderAsync(NpgsqlCommand command, CancellationToken token = default)
    {
        var connection = await OpenAsync(token).ConfigureAwait(false);
        command.Connection = connection;
        var behavior = connection == _connection ? CommandBehavior.Default : CommandBehavior.CloseConnection;
        try
        {
            return await Failures.TranslateAsync(() => command.ExecuteReaderAsync(behavior, token), command)
                .ConfigureAwait(false);
        }
        catch
        {
            await ReleaseAsync(connection).ConfigureAwait(false);
            throw;
        }
    }

    public void Dispose()
    {
        _connection?.Dispose();
        _connection = null;
        GC.SuppressFinalize(this);
    }

    public async ValueTask DisposeAsync()
    {
        if (_connection is not null)
        {
            await _connection.DisposeAsync().ConfigureAwait(false);
            _connection = null;
        }

        GC.SuppressFinalize(this);
    }

    /// <summary>Runs a query of this library's own once its table is there.</summary>
    internal async Task<TResult> ReadAsync<TResult>(
        ValueTask tableReady,
        NpgsqlCommand command,
        Func<NpgsqlDataReader, CancellationToken, Task<TResult>> read,
        CancellationToken token)
    {
        await tableReady.ConfigureAwait(false);
        var connection = await OpenAsync(token).ConfigureAwait(false);
        try
        {
            command.Connection = connection;
            command.CommandTimeout = Owner.Options.CommandTimeout;
            return await Failures.TranslateAsync(
                async () =>
                {
                    var reader = await command.ExecuteReaderAsync(token).ConfigureAwait(false);
                    await using (reader.ConfigureAwait(false))
                    {
                        return await read(reader, token).ConfigureAwait(false);
                    }
                },
                command).ConfigureAwait(false);
        }
        finally
        {
            await command.DisposeAsync().ConfigureAwait(false);
            await ReleaseAsync(connection).ConfigureAwait(false);
        }
    }

    protected ValueTask<NpgsqlConnection> OpenAsync(CancellationToken token)
        => _connection is null ? Owner.DataSource.OpenConnectionAsync(token) : ValueTask.FromResult(_connection);

    protected ValueTask ReleaseAsync(NpgsqlConnection connection)
        => connection == _connection ? ValueTask.CompletedTask : connection.DisposeAsync();

    private async Task<T?> LoadOneAsync<T>(object id, CancellationToken token)
        where T : notnull
    {
        var found = await LoadSomeAsync<T>([id], token).ConfigureAwait(false);
        return found.Count == 0 ? default : found[0];
    }

    private Task<IReadOnlyList<T>> LoadSomeAsync<T>(List<object> ids, CancellationToken token)
        where T : notnull
    {
        var mapping = Owner.Options.Documents.For(typeof(T));
        var table = $"{Owner.Schema.DocumentSchema}.{mapping.TableName}";
        var command = new NpgsqlCommand($"select data from {table} where id = any($1)");
        command.Parameters.Add(new NpgsqlParameter
        {
            Value = mapping.IdArray(ids),
            NpgsqlDbType = NpgsqlDbType.Array | mapping.IdDbType,
        });
        return ReadAsync(
            Owner.Schema.EnsureDocumentsAsync(mapping, token),
            command,
            async (reader, cancellation) =>
            {
                List<T> documents = new(ids.Count);
                while (await reader.ReadAsync(cancellation).ConfigureAwait(false))
                {
                    documents.Add(Owner.Options.Json.FromUtf8<T>(reader.GetFieldValue<byte[]>(0)));
                }

                return (IReadOnlyList<T>)documents;
            },
            token);
    }
}
