using JasperFx;
using Marten.Exceptions;
using Npgsql;

namespace Marten.Internal;

/// <summary>
/// Makes the tables of the events. It takes no lock in the database: stores that start at the same time get in each
/// other's way, as those of the genuine library do.
/// </summary>
internal sealed class DatabaseSchema(StoreOptions options, NpgsqlDataSource dataSource) : IMartenStorage
{
    private readonly Lock _gate = new();
    private Task? _ensured;

    /// <summary>Sessions of one store wait for the same attempt; after one that failed the next session tries again.</summary>
    public Task EnsureEventsAsync(CancellationToken token)
    {
        if (options.AutoCreateSchemaObjects == AutoCreate.None)
        {
            return Task.CompletedTask;
        }

        lock (_gate)
        {
            if (_ensured is null or { IsFaulted: true })
            {
                _ensured = ApplyAsync();
            }

            return _ensured.WaitAsync(token);
        }
    }

    public Task ApplyAllConfiguredChangesToDatabaseAsync(AutoCreate? @override = null)
        => options.EventGraph.IsActive ? ApplyAsync() : Task.CompletedTask;

    private async Task ApplyAsync()
    {
        string[] statements = [.. EventTables($"\"{options.DatabaseSchemaName}\"")];
        await using var batch = dataSource.CreateBatch();
        foreach (var statement in statements)
        {
            batch.BatchCommands.Add(new NpgsqlBatchCommand(statement));
        }

        try
        {
            await batch.ExecuteNonQueryAsync().ConfigureAwait(false);
        }
        catch (NpgsqlException failure)
        {
            throw new MartenSchemaException("events", string.Join(Environment.NewLine, statements), failure);
        }
    }

    // Nothing but what is missing is touched: even a "create index if not exists" waits for every writer.
    private static string When(string missing, params string[] statements)
        => $"do $do$ begin if {missing} then {string.Join("; ", statements)}; end if; end $do$";

    private static string CreateTable(string table, string columns, params string[] more)
        => When($"to_regclass('{table}') is null", [$"create table {table} ({columns})", .. more]);

    private static IEnumerable<string> EventTables(string schema)
    {
        yield return When($"to_regnamespace('{schema}') is null", $"create schema {schema}");
        yield return CreateTable(
            $"{schema}.mt_streams",
            $"""
            id varchar not null constraint pkey_mt_streams_id primary key,
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
            stream_id varchar null constraint fkey_mt_events_stream_id
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
            $"create sequence {schema}.mt_events_sequence",
            $"alter sequence {schema}.mt_events_sequence owned by {schema}.mt_events.seq_id");
        yield return CreateTable(
            $"{schema}.mt_event_progression",
            """
            name varchar not null constraint pk_mt_event_progression primary key,
            last_seq_id bigint null,
            last_updated timestamp with time zone null default (transaction_timestamp())
            """);
    }
}
