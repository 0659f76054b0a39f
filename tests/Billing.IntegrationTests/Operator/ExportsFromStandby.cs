using Billing.Auditing.Exports;
using Billing.Backends.Hosting;
using Billing.IntegrationTests.Services;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Npgsql;

namespace Billing.IntegrationTests.Operator;

/// <summary><c>./billing export</c> that reads from a standby, and asks the primary what is complete.</summary>
public sealed class ExportsFromStandby(EventStoreFixture store) : IClassFixture<EventStoreFixture>
{
    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_standby_is_read_once_it_has_what_its_primary_had_when_the_day_was_over()
    {
        Assert.SkipWhen(FailoverPrograms.Missing is not null, FailoverPrograms.Missing ?? "");
        await using var folder = StackFolder.Create();
        using var ports = new FreePorts();
        await using var servers = await ReplicatedPostgres.StartNewAsync(folder, ports, 2, cancellationToken: Stop);
        var backend = store.NewBackend(servers.ConnectionString);
        await backend.Database().Servers.LookForPrimaryAsync(Stop);
        await backend.EnsureEventStoreAsync(Stop);
        var standby = new NpgsqlConnectionStringBuilder(servers.ConnectionString)
        {
            Host = $"127.0.0.1:{(await servers.StandbyAsync(Stop)).Port}",
            TargetSessionAttributes = null,
        }.ConnectionString;
        await using var reader = NpgsqlDataSource.Create(
            new NpgsqlConnectionStringBuilder(standby) { Database = "postgres" });
        var tables = await backend.Database().Servers.AskAsync("select pg_current_wal_insert_lsn()::text", Stop);
        while (await ScalarAsync(reader, $"select pg_last_wal_replay_lsn() >= '{tables}'") is not true)
        {
        }
        await ScalarAsync(reader, "select true from pg_wal_replay_pause()");
        await EventStoreFixture.AppendAsync(
            backend.Database().Store, "visa/a", EventStoreFixture.Opened, EventStoreFixture.Facts(10));
        await backend.Database().Servers.AskAsync(
            "update billing.mt_events set timestamp = '2026-01-30 12:00:00Z' where stream_id = 'visa/a'", Stop);
        string[] Arguments(string connection) =>
        [
            "export", "--from", "2026-01-30", "--to", "2026-01-30", "--out",
            Path.Combine(folder.FullName, "out"), "--postgres", connection,
        ];

        var alone = await CommandRun.ToEndAsync(folder, Arguments(standby), program: CommandRun.Operator);
        await using var process = CommandRun.Start(
            folder, Arguments(new NpgsqlConnectionStringBuilder(
                servers.ConnectionString)
            { TargetSessionAttributes = "prefer-standby" }.ConnectionString),
            program: CommandRun.Operator);
        while (await ScalarAsync(
            reader,
            "select exists (select from pg_stat_activity where pid <> pg_backend_pid() and query like "
                + "'%pg_last_wal_replay_lsn%')") is not true)
        {
            Assert.False(process.HasExited, string.Join('\n', process.LastLogLines(20)));
        }
        await ScalarAsync(reader, "select true from pg_wal_replay_resume()");
        await process.WaitForExitAsync(Stop);

        Assert.StartsWith("--postgres: the database billing is a standby", alone.Output, StringComparison.Ordinal);
        Assert.True(process.ExitCode == 0, string.Join('\n', process.LastLogLines(20)));
        Assert.Equal(10, ExportManifest.Read(Path.Combine(folder.FullName, "out")).Days.Single().Events);
    }

    private static async Task<object?> ScalarAsync(NpgsqlDataSource source, string sql)
    {
        await using var command = source.CreateCommand(sql);
        return await command.ExecuteScalarAsync(Stop);
    }
}
