using System.Security.Cryptography;
using System.Text;
using Marten;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>A mark in the database that states which program last checked the tables, and a checksum of their
/// definitions, so that a starting service sees with one statement whether there is anything to create. It is a comment
/// on the table of shards, and so is dropped with it. Marten's own comparison takes longer than the rest of a backend's
/// start, and reads the same catalogue.</summary>
internal sealed class SchemaMark(string schema, string sql)
{
    // Every table, sequence and index with its columns, every constraint, every function:
    // anything dropped, added or altered changes the checksum. Privileges and statistics do not.
    private const string Found = """
        with tables as (select oid, relname, relkind from pg_class
                        where relnamespace = to_regnamespace($1) and relkind in ('r', 'p', 'v', 'm', 'S')),
             lines as (
            select concat_ws(' ', t.relkind::text, t.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                a.attnotnull,
                             pg_get_expr(d.adbin, d.adrelid)) as line
            from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
            left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
            union all select pg_get_indexdef(i.indexrelid) from tables t join pg_index i on i.indrelid = t.oid
            union all select t.relname || ' ' || pg_get_constraintdef(k.oid) from tables t
                join pg_constraint k on k.conrelid = t.oid
            union all select pg_get_functiondef(oid) from pg_proc where pronamespace = to_regnamespace($1)
                and prokind = 'f')
        select md5(string_agg(line, E'\n' order by line collate "C")) from lines
        """;

    // By its name in the catalogue: to_regclass fails for a role that may not use the schema.
    private const string IsMarked = "relnamespace = to_regnamespace($1) and relname = $2";

    // Everything that determines the schema: Marten, the program that configures it, and the program's own statements.
    private readonly string _madeBy = $"Seen to by {Sum(sql)}, as ";

    /// <summary>Whether the tables are as this build of the program left them.</summary>
    public async Task<bool> IsThereAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var command = Command(
            connection, $"select obj_description(oid, 'pg_class') = $3 || ({Found}) from pg_class where {IsMarked}");
        command.Parameters.AddWithValue(_madeBy);
        return await command.ExecuteScalarAsync(cancellationToken) is true;
    }

    /// <summary>Sets the mark: this program has checked the tables. Does nothing if the role
    /// does not own them.</summary>
    public async Task SetAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var found = Command(
            connection, $"select ({Found}) from pg_class where {IsMarked} and pg_has_role(relowner, 'USAGE')");
        if (await found.ExecuteScalarAsync(cancellationToken) is string sum)
        {
            await using var note = new NpgsqlCommand(
                $"comment on table {EventStoreSchema.ShardsHere(schema)} is '{_madeBy}{sum}'", connection);
            await note.ExecuteNonQueryAsync(cancellationToken);
        }
    }

    private NpgsqlCommand Command(NpgsqlConnection connection, string text)
    {
        var command = new NpgsqlCommand(text, connection);
        command.Parameters.AddWithValue(schema);
        command.Parameters.AddWithValue(EventStoreSchema.ShardsTable);
        return command;
    }

    private static string Sum(string sql)
    {
        var parts = string.Join(
            '\n', typeof(DocumentStore).Module.ModuleVersionId, typeof(SchemaMark).Module.ModuleVersionId, sql);
        return Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(parts)).AsSpan(0, 16));
    }
}
