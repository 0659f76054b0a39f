using System.Text;
using JasperFx.Events;
using Marten.Exceptions;
using Npgsql;

namespace Marten.Internal;

/// <summary>What will be saved in one transaction. It holds no connection.</summary>
internal sealed class Session(DocumentStore store) : IDocumentSession
{
    private readonly SessionEvents _events = new(store);
    private readonly List<NpgsqlBatchCommand> _statements = [];

    public Events.IEventStoreOperations Events => _events;

    Events.IQueryEventStore IQuerySession.Events => _events;

    public void QueueSqlCommand(string sql, params object[] parameterValues)
    {
        var parts = sql.TrimEnd(';').Split('?');
        if (parts.Length - 1 != parameterValues.Length)
        {
            throw new InvalidOperationException(
                $"{parameterValues.Length} values for {parts.Length - 1} parameters: {sql}");
        }

        var text = new StringBuilder(parts[0], sql.Length + (parameterValues.Length * 2));
        for (var i = 1; i < parts.Length; i++)
        {
            text.Append('$').Append(i).Append(parts[i]);
        }

        var command = new NpgsqlBatchCommand(text.ToString());
        foreach (var value in parameterValues)
        {
            command.Parameters.Add(new NpgsqlParameter { Value = value ?? DBNull.Value });
        }

        _statements.Add(command);
    }

    public async Task SaveChangesAsync(CancellationToken token = default)
    {
        var streams = _events.Pending;
        if (streams.Count == 0 && _statements.Count == 0)
        {
            return;
        }

        if (streams.Count > 0)
        {
            await store.Schema.EnsureEventsAsync(token).ConfigureAwait(false);
        }

        try
        {
            await SaveAsync(streams, token).ConfigureAwait(false);
        }
        catch (Exception) when (streams.Count > 0)
        {
            store.Tombstones.Post(streams);
            throw;
        }

        _events.Reset();
        _statements.Clear();
    }

    public void Dispose()
    {
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    /// <summary>A batch is a transaction of its own, sent and committed in one round trip.</summary>
    private async Task SaveAsync(IReadOnlyList<StreamAction> streams, CancellationToken token)
    {
        await using var batch = store.DataSource.CreateBatch();
        var append = new EventAppend(store.EventSql, store.Options.EventGraph.AppendMode, streams);
        if (streams.Count > 0)
        {
            append.AddTo(batch, store.Options.Json);
        }

        foreach (var statement in _statements)
        {
            batch.BatchCommands.Add(statement);
        }

        try
        {
            var reader = await batch.ExecuteReaderAsync(token).ConfigureAwait(false);
            await using (reader.ConfigureAwait(false))
            {
                await append.ReadAsync(reader, token).ConfigureAwait(false);
                while (await reader.NextResultAsync(token).ConfigureAwait(false))
                {
                    // A failure of a statement comes out when its result is reached.
                }
            }
        }
        catch (NpgsqlException failure)
        {
            var conflict = failure is PostgresException refused ? append.Explain(refused) : null;
            throw conflict ?? new MartenCommandException(null, failure);
        }
    }
}
