using System.Text;
using Marten.Exceptions;
using Npgsql;
using NpgsqlTypes;

namespace Marten.Internal;

/// <summary>Something a session will do when it is saved, after its events.</summary>
internal interface IOperation
{
    public void AddTo(NpgsqlBatch batch, DocumentStore store);
}

internal sealed class SqlOperation(string sql, char placeholder, object[] values) : IOperation
{
    public void AddTo(NpgsqlBatch batch, DocumentStore store)
    {
        var parts = sql.TrimEnd(';').Split(placeholder);
        if (parts.Length - 1 != values.Length)
        {
            throw new InvalidOperationException($"{values.Length} values for {parts.Length - 1} parameters: {sql}");
        }

        var text = new StringBuilder(parts[0], sql.Length + (values.Length * 2));
        for (var i = 1; i < parts.Length; i++)
        {
            text.Append('$').Append(i).Append(parts[i]);
        }

        var command = new NpgsqlBatchCommand(text.ToString());
        foreach (var value in values)
        {
            command.Parameters.Add(new NpgsqlParameter { Value = value ?? DBNull.Value });
        }

        batch.BatchCommands.Add(command);
    }
}

internal enum DocumentAction
{
    Store,
    Insert,
    Update,
    Delete,
}

/// <summary>One statement for a run of documents of one class.</summary>
internal sealed class DocumentOperation(DocumentMapping mapping, DocumentAction action) : IOperation
{
    private readonly List<object> _ids = [];
    private readonly List<object> _documents = [];
    private readonly Dictionary<object, int> _index = [];
    private NpgsqlBatchCommand? _command;

    public DocumentMapping Mapping => mapping;

    public DocumentAction Action => action;

    public void Add(object id, object? document)
    {
        // An upsert may not meet a row twice in one statement; the last one counts, as if they came one by one.
        if (action is DocumentAction.Store or DocumentAction.Update && _index.TryGetValue(id, out var index))
        {
            _documents[index] = document!;
            return;
        }

        _index[id] = _ids.Count;
        _ids.Add(id);
        if (document is not null)
        {
            _documents.Add(document);
        }
    }

    public void AddTo(NpgsqlBatch batch, DocumentStore store)
    {
        var table = Table(store);
        _command = new NpgsqlBatchCommand(Sql(table));
        _command.Parameters.Add(IdParameter());
        if (action != DocumentAction.Delete)
        {
            var json = store.Options.Json;
            _command.Parameters.Add(new NpgsqlParameter<byte[][]>
            {
                TypedValue = [.. _documents.Select(json.ToUtf8)],
                NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Jsonb,
            });
            _command.Parameters.Add(new NpgsqlParameter<Guid[]>
            {
                TypedValue = [.. _documents.Select(_ => Guid.CreateVersion7())],
                NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Uuid,
            });
            _command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = mapping.DotNetTypeName });
        }

        batch.BatchCommands.Add(_command);
    }

    /// <summary>After an update: the exception for a document that is not there.</summary>
    public async Task<Exception?> FindMissingAsync(
        NpgsqlConnection connection,
        DocumentStore store,
        CancellationToken token)
    {
        if (_command!.RecordsAffected == _ids.Count)
        {
            return null;
        }

        var existing = await ReadExistingAsync(connection, store, token).ConfigureAwait(false);
        return new NonExistentDocumentException(mapping.Type, _ids.First(id => !existing.Contains(id)));
    }

    /// <summary>After an insert: the exception where the failure is that a document is there already.</summary>
    public async Task<Exception?> ExplainAsync(
        PostgresException failure,
        NpgsqlConnection connection,
        DocumentStore store)
    {
        if (failure.SqlState != PostgresErrorCodes.UniqueViolation
            || failure.TableName != mapping.TableName
            || failure.ConstraintName != mapping.PrimaryKeyName)
        {
            return null;
        }

        var existing = await ReadExistingAsync(connection, store, CancellationToken.None).ConfigureAwait(false);
        var id = _ids.FirstOrDefault(existing.Contains)
            ?? _ids.GroupBy(candidate => candidate).FirstOrDefault(same => same.Count() > 1)?.Key;
        return id is null ? null : new DocumentAlreadyExistsException(failure, mapping.Type, id);
    }

    private async Task<HashSet<object>> ReadExistingAsync(
        NpgsqlConnection connection,
        DocumentStore store,
        CancellationToken token)
    {
        await using var command = new NpgsqlCommand($"select id from {Table(store)} where id = any($1)", connection);
        command.Parameters.Add(IdParameter());
        var reader = await command.ExecuteReaderAsync(token).ConfigureAwait(false);
        await using (reader.ConfigureAwait(false))
        {
            HashSet<object> existing = [];
            while (await reader.ReadAsync(token).ConfigureAwait(false))
            {
                existing.Add(reader.GetValue(0));
            }

            return existing;
        }
    }

    private string Table(DocumentStore store) => $"{store.Schema.DocumentSchema}.{mapping.TableName}";

    private NpgsqlParameter IdParameter()
        => new() { Value = mapping.IdArray(_ids), NpgsqlDbType = NpgsqlDbType.Array | mapping.IdDbType };

    private static string ChangesFrom(string row)
        => $"data = {row}.data, mt_version = {row}.mt_version, mt_dotnet_type = {row}.mt_dotnet_type, "
            + "mt_last_modified = transaction_timestamp()";

    private string Sql(string table)
    {
        var rows = $"""
            select d.id, d.data, d.mt_version, $4::varchar as mt_dotnet_type
            from unnest($1::{mapping.IdColumnType}[], $2::jsonb[], $3::uuid[]) as d(id, data, mt_version)
            """;
        var insert = $"insert into {table} (id, data, mt_version, mt_dotnet_type) {rows} order by d.id";
        return action switch
        {
            DocumentAction.Insert => insert,
            DocumentAction.Store =>
                $"{insert} on conflict (id) do update set {ChangesFrom("excluded")}",
            DocumentAction.Update =>
                $"update {table} t set {ChangesFrom("n")} from ({rows}) n where t.id = n.id",
            _ => $"delete from {table} where id = any($1)",
        };
    }
}
