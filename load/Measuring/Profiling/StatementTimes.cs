using System.Collections.Frozen;
using Billing.LocalStack.Postgres;
using Npgsql;

namespace Billing.Measuring.Profiling;

/// <summary>What PostgreSQL was asked, and what it wrote, between two looks.</summary>
/// <param name="Writes">Transactions that wrote something, whatever became of them: each waits for the disk once.</param>
/// <param name="LogBytes">Bytes of the write-ahead log.</param>
/// <param name="Statements">Statements, the dearest first; none where they are not counted.</param>
internal sealed record DatabaseUse(double Writes, double LogBytes, IReadOnlyList<StatementUse> Statements)
{
    /// <summary>For one of so many payments.</summary>
    public DatabaseUse Per(double payments) => new(
        Writes / payments, LogBytes / payments,
        [.. Statements.Select(s => s with { Calls = s.Calls / payments, Us = s.Us / payments, Rows = s.Rows / payments })]);
}

/// <summary>One statement.</summary>
/// <param name="Text">It, with parameters for its constants, on one line.</param>
/// <param name="Calls">How often it ran.</param>
/// <param name="Us">Microseconds that it took, planning left out; the time of a COMMIT holds the wait for the disk.</param>
/// <param name="Rows">Rows that it returned or changed.</param>
internal sealed record StatementUse(string Text, double Calls, double Us, double Rows);

/// <summary>Reads pg_stat_statements, where the server has it, and the positions of the log and of the transaction ids, which are
/// exact at any moment, unlike the counts in pg_stat_database, which sessions report when they come to it.</summary>
internal sealed class StatementTimes(string connectionString)
{
    private const string Module = "pg_stat_statements";
    private static readonly string[] ModuleFolders = ["lib", "lib/postgresql"];

    private bool _countsStatements;
    private (long Transaction, decimal Log) _before;

    /// <summary>What the server's settings must say for statements to be counted; nothing where it lacks the module: it would
    /// not start.</summary>
    public static IReadOnlyDictionary<string, string> ServerSettings() => HasModule(PostgresPrograms.FindFolder())
        ? new Dictionary<string, string>(StringComparer.Ordinal) { ["shared_preload_libraries"] = Module }
        : FrozenDictionary<string, string>.Empty;

    /// <summary>Lets the server show what it counts.</summary>
    /// <returns>Why it does not; null where it does.</returns>
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

    /// <summary>Starts counting from zero.</summary>
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

    /// <summary>What was counted since.</summary>
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

    /// <summary>A statement without its line breaks.</summary>
    public static string OneLine(string statement) => string.Join(' ', statement.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries));

    private static async Task<(long Transaction, decimal Log)> PositionAsync(NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(
            "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')");
        await using var row = await command.ExecuteReaderAsync(cancellationToken);
        await row.ReadAsync(cancellationToken);
        return (row.GetInt64(0), row.GetDecimal(1));
    }

    // Where Debian has a server's modules, and where PostgreSQL's own installation does.
    private static bool HasModule(string programs) => ModuleFolders.Any(folder => File.Exists(Path.Combine(programs, "..", folder, Module + ".so")));

    // A session that is over when it has answered: it is no part of what is measured.
    private string Own() => new NpgsqlConnectionStringBuilder(connectionString) { Pooling = false, MaxAutoPrepare = 0 }.ConnectionString;
}
