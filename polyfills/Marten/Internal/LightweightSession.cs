using System.Data;
using JasperFx.Events;
using Npgsql;
using NpgsqlTypes;

namespace Marten.Internal;

internal sealed class LightweightSession(DocumentStore store, IsolationLevel isolation)
    : QuerySession(store), IDocumentSession
{
    private readonly List<IOperation> _operations = [];
    private Dictionary<string, object>? _headers;

    public string? LastModifiedBy { get; set; }

    Events.IEventStoreOperations IDocumentOperations.Events => EventStore;

    Events.IEventStoreOperations IDocumentSession.Events => EventStore;

    public void Store<T>(IEnumerable<T> entities)
        where T : notnull
        => Queue(DocumentAction.Store, entities);

    public void Store<T>(params T[] entities)
        where T : notnull
        => Queue(DocumentAction.Store, entities);

    public void Insert<T>(IEnumerable<T> entities)
        where T : notnull
        => Queue(DocumentAction.Insert, entities);

    public void Insert<T>(params T[] entities)
        where T : notnull
        => Queue(DocumentAction.Insert, entities);

    public void Update<T>(IEnumerable<T> entities)
        where T : notnull
        => Queue(DocumentAction.Update, entities);

    public void Update<T>(params T[] entities)
        where T : notnull
        => Queue(DocumentAction.Update, entities);

    public void Delete<T>(T entity)
        where T : notnull
        => QueueDelete<T>(Owner.Options.Documents.For(typeof(T)).IdOf(entity));

    public void Delete<T>(int id)
        where T : notnull
        => QueueDelete<T>(Owner.Options.Documents.For(typeof(T)).IdDbType == NpgsqlDbType.Bigint ? (long)id : id);

    public void Delete<T>(long id)
        where T : notnull
        => QueueDelete<T>(id);

    public void Delete<T>(object id)
        where T : notnull
        => QueueDelete<T>(id);

    public void Delete<T>(Guid id)
        where T : notnull
        => QueueDelete<T>(id);

    public void Delete<T>(string id)
        where T : notnull
        => QueueDelete<T>(id);

    public void QueueSqlCommand(string sql, params object[] parameterValues)
        => QueueSqlCommand('?', sql, parameterValues);

    public void QueueSqlCommand(char placeholder, string sql, params object[] parameterValues)
        => _operations.Add(new SqlOperation(sql, placeholder, parameterValues));

    public void SetHeader(string key, object value)
    {
        _headers ??= [];
        _headers[key] = value;
    }

    public object? GetHeader(string key) => _headers?.GetValueOrDefault(key);

    public void EjectAllPendingChanges()
    {
        EventStore.Reset();
        _operations.Clear();
    }

    public async Task SaveChangesAsync(CancellationToken token = default)
    {
        var streams = HasEvents ? EventStore.Pending.Where(stream => stream.Events.Count > 0).ToArray() : [];
        if (streams.Length == 0 && _operations.Count == 0)
        {
            return;
        }

        await EnsureTablesAsync(streams.Length > 0, token).ConfigureAwait(false);
        var append = streams.Length > 0 ? new EventAppend(Owner.EventSql, streams) : null;
        var connection = await OpenAsync(token).ConfigureAwait(false);
        try
        {
            await using var batch = BuildBatch(connection, append, streams);
            await ExecuteAsync(batch, append, token).ConfigureAwait(false);
        }
        finally
        {
            await ReleaseAsync(connection).ConfigureAwait(false);
        }

        EjectAllPendingChanges();
    }

    private async ValueTask EnsureTablesAsync(bool events, CancellationToken token)
    {
        if (events)
        {
            await Owner.Schema.EnsureEventsAsync(token).ConfigureAwait(false);
        }

        foreach (var operation in _operations)
        {
            if (operation is DocumentOperation document)
            {
                await Owner.Schema.EnsureDocumentsAsync(document.Mapping, token).ConfigureAwait(false);
            }
        }
    }

    private NpgsqlBatch BuildBatch(NpgsqlConnection connection, EventAppend? append, StreamAction[] streams)
    {
        var batch = new NpgsqlBatch(connection) { Timeout = Owner.Options.CommandTimeout };
        if (append is not null)
        {
            StampMetadata(streams);
            append.AddTo(batch, Owner.Options.Json, Owner.Options.EventGraph.TimeProvider.GetUtcNow());
        }

        foreach (var operation in _operations)
        {
            operation.AddTo(batch, Owner);
        }

        return batch;
    }

    /// <summary>
    /// A batch is a transaction of its own, sent and committed in one round trip. Only what has to be looked at before
    /// it may be committed takes more.
    /// </summary>
    private async Task ExecuteAsync(NpgsqlBatch batch, EventAppend? append, CancellationToken token)
    {
        var updates = _operations.OfType<DocumentOperation>().Where(o => o.Action == DocumentAction.Update).ToArray();
        var transaction = updates.Length > 0 || isolation != IsolationLevel.ReadCommitted
            ? await batch.Connection!.BeginTransactionAsync(isolation, token).ConfigureAwait(false)
            : null;
        await using (transaction)
        {
            batch.Transaction = transaction;
            Exception? conflict = null;
            try
            {
                await ReadResultsAsync(batch, append, token).ConfigureAwait(false);
                foreach (var update in updates)
                {
                    conflict ??= await update.FindMissingAsync(batch.Connection!, Owner, token)
                        .ConfigureAwait(false);
                }

                if (conflict is null && transaction is not null)
                {
                    await transaction.CommitAsync(token).ConfigureAwait(false);
                }
            }
            catch (NpgsqlException failure)
            {
                conflict = await ExplainAsync(failure, batch.Connection!, transaction, append).ConfigureAwait(false);
            }

            if (conflict is not null)
            {
                throw conflict;
            }
        }
    }

    private static async Task ReadResultsAsync(NpgsqlBatch batch, EventAppend? append, CancellationToken token)
    {
        var reader = await batch.ExecuteReaderAsync(token).ConfigureAwait(false);
        await using (reader.ConfigureAwait(false))
        {
            if (append is not null)
            {
                await append.ReadAsync(reader, token).ConfigureAwait(false);
            }

            while (await reader.NextResultAsync(token).ConfigureAwait(false))
            {
                // A failure of a statement comes out when its result is reached.
            }
        }
    }

    private async Task<Exception> ExplainAsync(
        NpgsqlException failure,
        NpgsqlConnection connection,
        NpgsqlTransaction? transaction,
        EventAppend? append)
    {
        if (failure is not PostgresException refused || connection.State != ConnectionState.Open)
        {
            return Failures.Translate(failure);
        }

        if (transaction is not null)
        {
            await transaction.RollbackAsync(CancellationToken.None).ConfigureAwait(false);
        }

        var conflict = append is null
            ? null
            : await append.ExplainAsync(refused, connection).ConfigureAwait(false);
        foreach (var operation in _operations)
        {
            if (conflict is null && operation is DocumentOperation { Action: DocumentAction.Insert } insert)
            {
                conflict = await insert.ExplainAsync(refused, connection, Owner).ConfigureAwait(false);
            }
        }

        return conflict ?? Failures.Translate(failure);
    }

    private void StampMetadata(StreamAction[] streams)
    {
        var metadata = Owner.Options.EventGraph.MetadataConfig;
        if (Owner.EventSql.Metadata.Count == 0)
        {
            return;
        }

        foreach (var @event in streams.SelectMany(stream => stream.Events))
        {
            @event.CausationId = metadata.CausationIdEnabled ? @event.CausationId ?? CausationId : @event.CausationId;
            @event.CorrelationId = metadata.CorrelationIdEnabled
                ? @event.CorrelationId ?? CorrelationId
                : @event.CorrelationId;
            @event.UserName = metadata.UserNameEnabled ? @event.UserName ?? LastModifiedBy : @event.UserName;
            foreach (var header in metadata.HeadersEnabled && _headers is not null ? _headers : [])
            {
                @event.SetHeader(header.Key, header.Value);
            }
        }
    }

    private void Queue<T>(DocumentAction action, IEnumerable<T> entities)
        where T : notnull
    {
        var mapping = Owner.Options.Documents.For(typeof(T));
        foreach (var entity in entities)
        {
            Operation(mapping, action).Add(mapping.AssignId(entity), entity);
        }
    }

    private void QueueDelete<T>(object id)
        where T : notnull
        => Operation(Owner.Options.Documents.For(typeof(T)), DocumentAction.Delete).Add(id, null);

    private DocumentOperation Operation(DocumentMapping mapping, DocumentAction action)
    {
        if (_operations.Count > 0
            && _operations[^1] is DocumentOperation last
            && last.Mapping == mapping
            && last.Action == action)
        {
            return last;
        }

        var operation = new DocumentOperation(mapping, action);
        _operations.Add(operation);
        return operation;
    }
}
