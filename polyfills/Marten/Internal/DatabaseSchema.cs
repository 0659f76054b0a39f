using System.Collections.Concurrent;
using JasperFx;
using JasperFx.Events;
using Marten.Events;
using Npgsql;

namespace Marten.Internal;

/// <summary>
/// Makes the tables. A store looks once for each of them; stores that start at the same time wait for each other on an
/// advisory lock.
/// </summary>
internal sealed class DatabaseSchema(StoreOptions options, NpgsqlDataSource dataSource) : IMartenStorage
{
    private readonly ConcurrentDictionary<DocumentMapping, bool> _documentsReady = new();
    private volatile bool _eventsReady;

    public string DocumentSchema { get; } = $"\"{options.DatabaseSchemaName}\"";

    public ValueTask EnsureEventsAsync(CancellationToken token)
    {
        if (_eventsReady || options.AutoCreateSchemaObjects == AutoCreate.None)
        {
            return ValueTask.CompletedTask;
        }

        return new ValueTask(ApplyAsync(true, [], token));
    }

    public ValueTask EnsureDocumentsAsync(DocumentMapping mapping, CancellationToken token)
    {
        if (_documentsReady.ContainsKey(mapping) || options.AutoCreateSchemaObjects == AutoCreate.None)
        {
            return ValueTask.CompletedTask;
        }

        return new ValueTask(ApplyAsync(false, [mapping], token));
    }

    public Task ApplyAllConfiguredChangesToDatabaseAsync(AutoCreate? @override = null)
    {
        if (@override == AutoCreate.None)
        {
            return Task.CompletedTask;
        }

        return ApplyAsync(options.EventGraph.IsActive, [.. options.Documents.All], CancellationToken.None);
    }

    /// <summary>To be called when tables were dropped.</summary>
    public void Forget()
    {
        _eventsReady = false;
        _documentsReady.Clear();
    }

    private async Task ApplyAsync(bool events, IReadOnlyList<DocumentMapping> documents, CancellationToken token)
    {
        List<string> statements = [];
        if (events)
        {
            statements.AddRange(EventTables(options.EventGraph));
        }

        if (documents.Count > 0)
        {
            statements.Add(CreateSchema(DocumentSchema));
            statements.AddRange(documents.Select(DocumentTable));
        }

        if (statements.Count > 0)
        {
            await ExecuteLockedAsync(statements, token).ConfigureAwait(false);
        }

        _eventsReady |= events;
        foreach (var mapping in documents)
        {
            _documentsReady[mapping] = true;
        }
    }

    private async Task ExecuteLockedAsync(List<string> statements, CancellationToken token)
    {
        // One implicit transaction; the lock is a statement of its own, so that those after it see what the one who
        // held it before has committed.
        await using var batch = dataSource.CreateBatch();
        batch.BatchCommands.Add(new NpgsqlBatchCommand($"select pg_advisory_xact_lock({options.ApplyChangesLockId})"));
        foreach (var statement in statements)
        {
            batch.BatchCommands.Add(new NpgsqlBatchCommand(statement));
        }

        await Failures.TranslateAsync(() => batch.ExecuteNonQueryAsync(token)).ConfigureAwait(false);
    }

    // Nothing but what is missing is touched: even a "create index if not exists" waits for every writer.
    private static string When(string missing, params string[] statements)
        => $"do $do$ begin if {missing} then {string.Join("; ", statements)}; end if; end $do$";

    private static string CreateSchema(string schema)
        => When($"to_regnamespace('{schema}') is null", $"create schema if not exists {schema}");

    private static string CreateTable(string table, string columns, params string[] more)
        => When($"to_regclass('{table}') is null", [$"create table {table} ({columns})", .. more]);

    private static IEnumerable<string> EventTables(EventGraph events)
    {
        var schema = $"\"{events.DatabaseSchemaName}\"";
        var streamId = events.StreamIdentity == StreamIdentity.AsString ? "varchar" : "uuid";
        yield return CreateSchema(schema);
        yield return CreateTable(
            $"{schema}.mt_streams",
            $"""
            id {streamId} not null constraint pkey_mt_streams_id primary key,
            type varchar null,
            version bigint null,
            timestamp timestamp with time zone not null default (now()),
            created timestamp with time zone not null default (now()),
            tenant_id varchar null default '{TypeNames.DefaultTenant}',
            is_archived boolean null default false
            """);
        yield return CreateTable(
            $"{schema}.mt_events",
            $"""
            seq_id bigint not null constraint pkey_mt_events_seq_id primary key,
            id uuid not null,
            stream_id {streamId} null constraint fkey_mt_events_stream_id
                references {schema}.mt_streams(id) on delete cascade,
            version bigint not null,
            data jsonb not null,
            bdata bytea null,
            type varchar(500) not null,
            timestamp timestamp with time zone not null default (now()),
            tenant_id varchar null default '{TypeNames.DefaultTenant}',
            mt_dotnet_type varchar null,
            is_archived boolean null default false
            """,
            $"create unique index pk_mt_events_stream_and_version on {schema}.mt_events (stream_id, version)",
            $"create sequence if not exists {schema}.mt_events_sequence",
            $"alter sequence {schema}.mt_events_sequence owned by {schema}.mt_events.seq_id");
        yield return CreateTable(
            $"{schema}.mt_event_progression",
            """
            name varchar not null constraint pk_mt_event_progression primary key,
            last_seq_id bigint null,
            last_updated timestamp with time zone null default (transaction_timestamp())
            """);
        foreach (var (name, type) in EventSql.MetadataColumns(events.MetadataConfig))
        {
            yield return When(
                $"""
                not exists (select from pg_attribute
                    where attrelid = '{schema}.mt_events'::regclass and attname = '{name}' and not attisdropped)
                """,
                $"alter table {schema}.mt_events add column {name} {type} null");
        }
    }

    private string DocumentTable(DocumentMapping mapping) => CreateTable(
        $"{DocumentSchema}.{mapping.TableName}",
        $"""
        id {mapping.IdColumnType} not null constraint {mapping.PrimaryKeyName} primary key,
        data jsonb not null,
        mt_last_modified timestamp with time zone null default (transaction_timestamp()),
        mt_version uuid not null default (md5(random()::text || clock_timestamp()::text)::uuid),
        mt_dotnet_type varchar null
        """);
}
