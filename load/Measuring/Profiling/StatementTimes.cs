using System.Collections.Frozen;
using Billing.LocalStack.Postgres;
using Npgsql;

namespace Billing.Measuring.Profiling;

/// <summary>The work of PostgreSQL between two readings.</summary>
/// <param name="Writes">Number of transactions that wrote something, committed or not: each waits for the disk once.</param>
/// <param name="LogBytes">Bytes written to the write-ahead log.</param>
/// <param name="Statements">Statements, those with the most time first; empty if they are not counted.</param>
internal sealed record DatabaseUse(double Writes, double LogBytes, IReadOnlyList<StatementUse> Statements)
{
    /// <summary>Divides by a number of payments.</summary>
    public DatabaseUse Per(double payments) => new(
        Writes / payments, LogBytes / payments,
        [.. Statements.Select(s => s with { Calls = s.Calls / payments, Us = s.Us / payments, Rows = s.Rows / payments })]);
}

/// <summary>The counts of one statement.</summary>
/// <param name="Text">The statement on one line, with parameters for its constants.</param>
/// <param name="Calls">Number of executions.</param>
/// <param name="Us">Execution time in microseconds, without planning; that of a COMMIT includes the wait for the disk.</param>
/// <param name="Rows">Number of rows that it returned or changed.</param>
internal sealed record StatementUse(string Text, double Calls, double Us, double Rows);

/// <summary>Reads pg_stat_statements, if the server has it, and the positions of the write-ahead log and of the transaction ids.
/// These are exact at any moment, unlike the counts in pg_stat_database, which sessions report with a delay.</summary>
internal sealed class StatementTimes(string connectionString)
{
    private const string Module = "pg_stat_statements";
    private static readonly string[] ModuleFolders = ["lib", "lib/postgresql"];

    private bool _countsStatements;
    private (long Transaction, decimal Log) _before;

    /// <summary>Returns the server settings that enable the counting of statements; empty if the server lacks the module, because
    /// it would not start with them.</summary>
    public static IReadOnlyDictionary<string, string> ServerSettings() => HasModule(PostgresPrograms.FindFolder())
        ? new Dictionary<string, string>(StringComparer.Ordinal) { ["shared_preload_libraries"] = Module }
        : FrozenDictionary<string, string>.Empty;

    /// <summary>Creates the extension that shows the counts.</summary>
    /// <returns>Why statements are not counted; null if they are.</returns>
    public async Task<string?> EnableAsync(CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(Own());
        try
        {
            await using var create = source.CreateCommand($"CREATE EXTENSION IF NOT EXISTS {Module}; SELECT count(*) FROM {Module}");
            await create.ExecuteNonQueryAsync(cancellationToken);
            _countsStatements = true;
            return null;
        }
        catch (PostgresException e)
        {
            return $"statements are not counted: this PostgreSQL lacks {Module} ({e.MessageText})";
        }
    }

    /// <summary>Resets the counts.</summary>
    public async Task BeginAsync(CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(Own());
        if (_countsStatements)
        {
            await using var reset = source.CreateCommand($"SELECT {Module}_reset()");
            await reset.ExecuteNonQueryAsync(cancellationToken);
        }
        _before = await PositionAsync(source, cancellationToken);
    }

    /// <summary>Returns the counts since <see cref="BeginAsync"/>.</summary>
    public async Task<DatabaseUse> EndAsync(CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(Own());
        var (transaction, log) = await PositionAsync(source, cancellationToken);
        var statements = new List<StatementUse>();
        if (_countsStatements)
        {
            await using var command = source.CreateCommand(
                $"""
                SELECT query, sum(calls)::float8, sum(total_exec_time)::float8 * 1000, sum(rows)::float8 FROM {Module}
                WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
                  AND query NOT LIKE '%{Module}%' AND query NOT LIKE '%pg_current_snapshot%'
                GROUP BY query ORDER BY 3 DESC
                """);
            await using var rows = await command.ExecuteReaderAsync(cancellationToken);
            while (await rows.ReadAsync(cancellationToken))
            {
                statements.Add(new StatementUse(OneLine(rows.GetString(0)), rows.GetDouble(1), rows.GetDouble(2), rows.GetDouble(3)));
            }
        }
        return new DatabaseUse(transaction - _before.Transaction, (double)(log - _before.Log), statements);
    }

    /// <summary>Returns a statement without its line breaks.</summary>
    public static string OneLine(string statement) => string.Join(' ', statement.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries));

    private static async Task<(long Transaction, decimal Log)> PositionAsync(NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(
            "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')");
        await using var row = await command.ExecuteReaderAsync(cancellationToken);
        await row.ReadAsync(cancellationToken);
        return (row.GetInt64(0), row.GetDecimal(1));
    }

    // The module folders of Debian's packages and of PostgreSQL's own installation.
    private static bool HasModule(string programs) => ModuleFolders.Any(folder => File.Exists(Path.Combine(programs, "..", folder, Module + ".so")));

    // A session that ends after its query, so that it is not part of the measurement.
    private string Own() => new NpgsqlConnectionStringBuilder(connectionString) { Pooling = false, MaxAutoPrepare = 0 }.ConnectionString;
}
