using Billing.Auditing;
using Billing.Auditing.Chains;
using Billing.Backends.Hosting;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>Payments of the past, stored by <c>./billing backfill</c>.</summary>
public sealed class Backfilling(EventStoreFixture store) : IClassFixture<EventStoreFixture>
{
    [Fact]
    public async Task Payments_of_the_past_are_as_backends_would_have_stored_them()
    {
        await using var folder = StackFolder.Create();
        var before = await AuditAsync();

        var (exitCode, output) = await CommandRun.ToEndAsync(
            folder,
            ["backfill", "--events", "7000", "--accounts", "60", "--postgres", store.Postgres.ConnectionString]);

        Assert.Equal(0, exitCode);
        Assert.Contains("7,000 payments of 60 accounts in", output, StringComparison.Ordinal);
        var after = await AuditAsync();
        Assert.True(after.IsClean, string.Join('\n', [.. after.Holes, .. after.Unbalanced, .. after.Misjudged]));
        Assert.Empty((await new ChainVerifier([store.Postgres.ConnectionString]).RunAsync(
            null, TestContext.Current.CancellationToken)).Broken);
        Assert.Equal((before.Events + 7000, before.Accounts + 60), (after.Events, after.Accounts));
    }

    [Fact]
    public async Task A_store_with_events_is_refused_and_stays_as_it_is()
    {
        await using var folder = StackFolder.Create();
        var real = await store.NewDatabaseAsync();
        await using var backend = store.NewBackend(real);
        await backend.EnsureEventStoreAsync(TestContext.Current.CancellationToken);
        await EventStoreFixture.AppendAsync(
            backend.Database().Store, "visa/real", EventStoreFixture.Opened, EventStoreFixture.Facts(3));
        var before = await ContentAsync(real);

        var (exitCode, output) = await CommandRun.ToEndAsync(
            folder, ["backfill", "--events", "100", "--accounts", "10", "--postgres", real]);

        Assert.Equal(1, exitCode);
        Assert.Contains("--postgres: the database billing has events", output, StringComparison.Ordinal);
        Assert.Equal(before, await ContentAsync(real));
    }

    [Fact]
    public async Task Of_several_databases_none_is_changed_if_one_has_events()
    {
        await using var folder = StackFolder.Create();
        string[] databases = [await store.NewDatabaseAsync(), await store.NewDatabaseAsync()];
        await using var backend = store.NewBackend(databases[1]);
        await backend.EnsureEventStoreAsync(TestContext.Current.CancellationToken);
        await EventStoreFixture.AppendAsync(
            backend.Database().Store, "visa/real", EventStoreFixture.Opened, EventStoreFixture.Facts(3));
        var before = await ContentAsync(databases[0]);

        var (exitCode, output) = await CommandRun.ToEndAsync(
            folder,
            [
                "backfill", "--events", "100", "--accounts", "10",
                "--postgres", "one:" + databases[0], "--postgres", "two:" + databases[1],
            ]);

        Assert.Equal(1, exitCode);
        Assert.Contains("--postgres: the database two has events", output, StringComparison.Ordinal);
        Assert.Equal(before, await ContentAsync(databases[0]));
    }

    [Fact]
    public async Task A_store_is_filled_once()
    {
        await using var folder = StackFolder.Create();
        string[] command =
            ["backfill", "--events", "100", "--accounts", "10", "--postgres", await store.NewDatabaseAsync()];

        var (first, _) = await CommandRun.ToEndAsync(folder, command);
        var (again, output) = await CommandRun.ToEndAsync(folder, command);

        Assert.Equal((0, 1), (first, again));
        Assert.Contains("has events", output, StringComparison.Ordinal);
    }

    // The tables, and how many events there are.
    private static async Task<string> ContentAsync(string connection)
    {
        await using var database = NpgsqlDataSource.Create(connection);
        await using var command = database.CreateCommand(
            """
            select string_agg(schemaname || '.' || tablename, ' ' order by schemaname, tablename) from pg_tables
            where schemaname not in ('pg_catalog', 'information_schema')
            """);
        var tables = await command.ExecuteScalarAsync(TestContext.Current.CancellationToken) as string ?? "";
        if (tables.Contains("mt_events", StringComparison.Ordinal))
        {
            await using var events = database.CreateCommand("select count(*) from billing.mt_events");
            return $"{tables}: {await events.ExecuteScalarAsync(TestContext.Current.CancellationToken)} events";
        }
        return tables;
    }

    private Task<AuditResult> AuditAsync() =>
        new Auditor(store.Postgres.ConnectionString) { OpeningLimits = BillingStack.OpeningLimits }
            .RunAsync([], CancellationToken.None);
}
