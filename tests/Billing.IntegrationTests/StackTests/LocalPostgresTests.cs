using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Npgsql;

namespace Billing.IntegrationTests.StackTests;

[Collection(SequentialStackTests.Name)]
public sealed class LocalPostgresTests
{
    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_committed_row_survives_a_restart_and_a_kill_and_no_processes_or_files_are_left()
    {
        var folder = StackFolder.Create();
        using var ports = new FreePorts();
        var postgres = await LocalPostgres.StartNewAsync(folder, ports, cancellationToken: Cancellation);
        var first = postgres.Process!.Identity;
        await ExecuteAsync(postgres, "CREATE TABLE payments (id int PRIMARY KEY); INSERT INTO payments VALUES (1)");

        await postgres.StopAsync();
        await postgres.StartAsync(Cancellation);
        Assert.False(first.IsRunning);
        Assert.Equal(1L, await ExecuteAsync(postgres, "SELECT count(*) FROM payments"));

        await ExecuteAsync(postgres, "INSERT INTO payments VALUES (2)");
        postgres.Kill();
        await postgres.Process!.WaitForExitAsync(Cancellation);
        await postgres.StartAsync(Cancellation);
        Assert.Equal(2L, await ExecuteAsync(postgres, "SELECT count(*) FROM payments"));

        var last = postgres.Process!.Identity;
        await postgres.DisposeAsync();
        await folder.DisposeAsync();
        Assert.False(last.IsRunning);
        Assert.False(Directory.Exists(folder.FullName));
    }

    [Fact]
    public async Task A_connection_with_a_wrong_password_is_rejected()
    {
        await using var folder = StackFolder.Create();
        using var ports = new FreePorts();
        await using var postgres = await LocalPostgres.StartNewAsync(folder, ports, cancellationToken: Cancellation);
        var intruder = new NpgsqlConnectionStringBuilder(postgres.ConnectionString)
        {
            Password = "guess",
            Pooling = false,
        };
        await using var connection = new NpgsqlConnection(intruder.ConnectionString);
        var refusal = await Assert.ThrowsAsync<PostgresException>(() => connection.OpenAsync(Cancellation));
        Assert.Equal(PostgresErrorCodes.InvalidPassword, refusal.SqlState);
    }

    [Fact]
    public async Task Commits_wait_for_the_disk()
    {
        await using var folder = StackFolder.Create();
        using var ports = new FreePorts();
        await using var postgres = await LocalPostgres.StartNewAsync(folder, ports, cancellationToken: Cancellation);
        foreach (var setting in new[] { "fsync", "synchronous_commit", "full_page_writes" })
        {
            Assert.Equal("on", await ExecuteAsync(postgres, $"SHOW {setting}"));
        }
    }

    private static async Task<object?> ExecuteAsync(LocalPostgres postgres, string sql)
    {
        var unpooled = new NpgsqlConnectionStringBuilder(postgres.ConnectionString) { Pooling = false };
        await using var connection = new NpgsqlConnection(unpooled.ConnectionString);
        await connection.OpenAsync(Cancellation);
        await using var command = new NpgsqlCommand(sql, connection);
        return await command.ExecuteScalarAsync(Cancellation);
    }
}
