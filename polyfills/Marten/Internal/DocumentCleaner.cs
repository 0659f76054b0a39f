using Marten.Schema;
using Npgsql;

namespace Marten.Internal;

internal sealed class DocumentCleaner(DocumentStore store) : IDocumentCleaner
{
    private string Documents => store.Options.DatabaseSchemaName;

    private string Events => store.Options.EventGraph.DatabaseSchemaName;

    public async Task DeleteAllDocumentsAsync(CancellationToken ct = default)
    {
        var tables = await NamesAsync(
            "select format('%I.%I', schemaname, tablename) from pg_tables "
            + "where schemaname = $1 and tablename like 'mt\\_doc\\_%'",
            Documents,
            ct).ConfigureAwait(false);
        await ExecuteAsync(tables.Count == 0 ? [] : [$"truncate table {string.Join(", ", tables)} cascade"], ct)
            .ConfigureAwait(false);
    }

    public async Task DeleteAllEventDataAsync(CancellationToken ct = default)
    {
        var tables = await NamesAsync(
            "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = $1 "
            + "and tablename in ('mt_streams', 'mt_events', 'mt_event_progression')",
            Events,
            ct).ConfigureAwait(false);
        if (tables.Count > 0)
        {
            await ExecuteAsync(
                [
                    $"truncate table {string.Join(", ", tables)} cascade",
                    $"alter sequence \"{Events}\".mt_events_sequence restart with 1",
                ],
                ct).ConfigureAwait(false);
        }
    }

    public async Task CompletelyRemoveAllAsync(CancellationToken ct = default)
    {
        const string Drops = """
            select format('drop table if exists %I.%I cascade', schemaname, tablename)
            from pg_tables where schemaname = $1 and tablename like 'mt\_%'
            union all
            select format('drop sequence if exists %I.%I cascade', schemaname, sequencename)
            from pg_sequences where schemaname = $1 and sequencename like 'mt\_%'
            union all
            select format('drop function if exists %s cascade', p.oid::regprocedure)
            from pg_proc p join pg_namespace n on n.oid = p.pronamespace
            where n.nspname = $1 and p.proname like 'mt\_%'
            """;
        foreach (var schema in new[] { Documents, Events }.Distinct(StringComparer.Ordinal))
        {
            await ExecuteAsync(await NamesAsync(Drops, schema, ct).ConfigureAwait(false), ct).ConfigureAwait(false);
        }

        store.Schema.Forget();
    }

    private async Task<List<string>> NamesAsync(string sql, string schema, CancellationToken ct)
    {
        await using var command = store.DataSource.CreateCommand(sql);
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = schema });
        var reader = await command.ExecuteReaderAsync(ct).ConfigureAwait(false);
        await using (reader.ConfigureAwait(false))
        {
            List<string> names = [];
            while (await reader.ReadAsync(ct).ConfigureAwait(false))
            {
                names.Add(reader.GetString(0));
            }

            return names;
        }
    }

    private async Task ExecuteAsync(List<string> statements, CancellationToken ct)
    {
        if (statements.Count == 0)
        {
            return;
        }

        await using var batch = store.DataSource.CreateBatch();
        foreach (var statement in statements)
        {
            batch.BatchCommands.Add(new NpgsqlBatchCommand(statement));
        }

        await Failures.TranslateAsync(() => batch.ExecuteNonQueryAsync(ct)).ConfigureAwait(false);
    }
}
