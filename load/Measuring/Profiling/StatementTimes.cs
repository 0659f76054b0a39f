using System.Collections.Frozen;
using Billing.LocalStack.Postgres;
using Npgsql;

namespace Billing.Measuring.Profiling;

/// <summary>The work of PostgreSQL between two readings, of several databases together.</summary>
/// <param name="Writes">Number of transactions that wrote something, committed or not: each waits for the disk once.</param>
/// <param name="LogBytes">Bytes written to the write-ahead log.</param>
/// <param name="Statements">Statements, those with the most time first; empty if they are not counted.</param>
internal sealed record DatabaseUse(double Writes, double LogBytes, IReadOnlyList<StatementUse> Statements)
{
    /// <summary>Divides by a number of payments.</summary>
    public DatabaseUse Per(double payments) => new(
        Writes / payments, LogBytes / payments,
        [.. Statements.Select(s => s with { Calls = s.Calls / payments, Us = s.Us / payments, Rows = s.Rows / payments })]);

    /// <summary>Adds the work of several databases up.</summary>
    public static DatabaseUse Sum(IReadOnlyCollection<DatabaseUse> databases) => new(
        databases.Sum(database => database.Writes), databases.Sum(database => database.LogBytes),
        [
            .. databases.SelectMany(database => database.Statements).GroupBy(s => s.Text, StringComparer.Ordinal)
                .Select(same => new StatementUse(same.Key, same.Sum(s => s.Calls), same.Sum(s => s.Us), same.Sum(s => s.Rows)))
                .OrderByDescending(s => s.Us),
        ]);
}

/// <summary>The counts of one statement.</summary>
/// <param name="Text">The statement on one line, with parameters for its constants.</param>
/// <param name="Calls">Number of executions.</param>
/// <param name="Us">Execution time in microseconds, without planning; that of a COMMIT includes the wait for the disk.</param>
/// <param name="Rows">Number of rows that it returned or changed.</param>
internal sealed record StatementUse(string Text, double Calls, double Us, double Rows);

/// <summary>Reads pg_stat_statements, if the server has it, and the positions of the write-ahead log and of the transaction ids.
/// These are exact at any moment, unlike the counts in pg_stat_database, which sessions report with a delay.</summary>
internal sealed class StatementTimes
{
    private const string Module = "pg_stat_statements";
    private static readonly string[] ModuleFolders = ["lib", "lib/postgresql"];

    private readonly NpgsqlDataSource[] _databases;
    private bool _countsStatements;
    private (long Transaction, decimal Log)[] _before = [];

    public StatementTimes(IEnumerable<string> connectionStrings) =>
        // Sessions that end after their query, so that they are not part of the measurement.
        _databases = [.. connectionStrings.Select(database => NpgsqlDataSource.Create(
            new NpgsqlConnectionStringBuilder(database) { Pooling = false, MaxAutoPrepare = 0 }.ConnectionString))];

    /// <summary>Returns the server settings that enable the counting of statements; empty if the server lacks the module, because
    /// it would not start with them.</summary>
    public static IReadOnlyDictionary<string, string> ServerSettings() => HasModule(PostgresPrograms.FindFolder())
        ? new Dictionary<string, string>(StringComparer.Ordinal) { ["shared_preload_libraries"] = Module }
        : FrozenDictionary<string, string>.Empty;

    /// <summary>Creates the extension that shows the counts.</summary>
    /// <returns>Why statements are not counted; null if they are.</returns>
    public async Task<string?> EnableAsync(CancellationToken cancellationToken)
    {
        try
        {
            foreach (var database in _databases)
            {
                await using var create = database.CreateCommand($"CREATE EXTENSION IF NOT EXISTS {Module}; SELECT count(*) FROM {Module}");
                await create.ExecuteNonQueryAsync(cancellationToken);
            }
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
        foreach (var database in _countsStatements ? _databases : [])
        {
            await using var reset = database.CreateCommand($"SELECT {Module}_reset()");
            await reset.ExecuteNonQueryAsync(cancellationToken);
        }
        _before = await Task.WhenAll(_databases.Select(database => PositionAsync(database, cancellationToken)));
    }

    /// <summary>Returns the counts since <see cref="BeginAsync"/>.</summary>
    public async Task<DatabaseUse> EndAsync(CancellationToken cancellationToken) => DatabaseUse.Sum(
        await Task.WhenAll(_databases.Zip(_before, (database, before) => EndAsync(database, before, cancellationToken))));

    private async Task<DatabaseUse> EndAsync(NpgsqlDataSource database, (long Transaction, decimal Log) before, CancellationToken cancellationToken)
    {
        var (transaction, log) = await PositionAsync(database, cancellationToken);
        var statements = new List<StatementUse>();
        if (_countsStatements)
        {
            await using var command = database.CreateCommand(
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
        return new DatabaseUse(transaction - before.Transaction, (double)(log - before.Log), statements);
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
}
