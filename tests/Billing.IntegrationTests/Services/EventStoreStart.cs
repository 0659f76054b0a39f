using Billing.Auditing;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Messaging.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>How services make the tables of the event store when they start.</summary>
[Collection(OverEventStore.Name)]
public sealed class EventStoreStart(EventStoreFixture store)
{
    [Fact]
    public async Task Eight_services_that_start_at_once_on_an_empty_database_all_start()
    {
        // More than once: who gets in whose way is chance.
        for (var round = 0; round < 3; round++)
        {
            var database = await store.NewDatabaseAsync();
            var services = Enumerable.Range(0, 8).Select(_ => store.NewBackend(database)).ToArray();

            await Task.WhenAll(services.Select(service => Task.Run(
                () => service.GetRequiredService<EventStoreSchema>().EnsureAsync(CancellationToken.None))));

            var tables = await TablesAsync(database);
            Assert.All(
                ["account_snapshots", "mt_event_progression", "mt_events", "mt_streams", "payment_receipts"],
                table => Assert.Contains(table, tables));
            // Their pools hold connections that the server has not without end.
            await Task.WhenAll(services.Select(service => service.DisposeAsync().AsTask()));
        }
    }

    [Fact]
    public async Task A_pool_of_one_connection_is_enough()
    {
        var database = await store.NewDatabaseAsync();
        var pool = new NpgsqlConnectionStringBuilder(database) { MaxPoolSize = 1, Timeout = 5 };

        await store.NewBackend(pool.ConnectionString).GetRequiredService<EventStoreSchema>().EnsureAsync(CancellationToken.None);

        Assert.Contains("mt_events", await TablesAsync(database));
    }

    [Theory]
    [InlineData("", "10s")]
    [InlineData("-c idle_in_transaction_session_timeout=3s", "3s")]
    public async Task A_transaction_whose_end_is_lost_keeps_its_locks_for_seconds_only(string options, string expected)
    {
        var database = new NpgsqlConnectionStringBuilder(await store.NewDatabaseAsync()) { Options = options };
        await using var sessions = store.NewBackend(database.ConnectionString);

        await using var show = sessions.GetRequiredService<NpgsqlDataSource>().CreateCommand("show idle_in_transaction_session_timeout");

        Assert.Equal(expected, await show.ExecuteScalarAsync());
    }

    [Theory]
    [InlineData("", 50, true, "off")]
    [InlineData("Max Auto Prepare=0;No Reset On Close=false;Options=-c enable_seqscan=on", 0, false, "on")]
    [InlineData("MaxAutoPrepare=7", 7, true, "off")]
    public async Task Statements_are_kept_prepared_and_sessions_as_they_are_unless_the_connection_string_says_otherwise(
        string given, int prepared, bool kept, string readsWholeTables)
    {
        await using var sessions = store.NewBackend($"{await store.NewDatabaseAsync()};{given}");
        var source = sessions.GetRequiredService<NpgsqlDataSource>();

        await using var show = source.CreateCommand("show enable_seqscan");

        Assert.Equal(readsWholeTables, await show.ExecuteScalarAsync());
        var settings = new NpgsqlConnectionStringBuilder(source.ConnectionString);
        Assert.Equal((prepared, kept), (settings.MaxAutoPrepare, settings.NoResetOnClose));
    }

    [Fact]
    public async Task A_refusal_is_told_by_its_cause_and_not_by_the_statements()
    {
        var database = await store.NewDatabaseAsync();
        await using var source = NpgsqlDataSource.Create(database);
        await using var refuse = source.CreateCommand("""
            create role nobody_much login password 'secret';
            create schema billing;
            """);
        await refuse.ExecuteNonQueryAsync();
        var nobody = new NpgsqlConnectionStringBuilder(database) { Username = "nobody_much", Password = "secret" };

        var failure = await Assert.ThrowsAsync<StartupException>(() => store.NewBackend(nobody.ConnectionString)
            .GetRequiredService<EventStoreSchema>().EnsureAsync(CancellationToken.None));

        Assert.StartsWith(
            "Billing:EventStore: the tables could not be created in the schema 'billing': 42501: permission denied for ",
            failure.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("create table", failure.Message, StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public async Task A_role_that_may_make_nothing_starts_and_stores_where_the_tables_are()
    {
        var database = await store.NewDatabaseAsync();
        await store.NewBackend(database).GetRequiredService<EventStoreSchema>().EnsureAsync(CancellationToken.None);
        var backend = store.NewBackend(await GrantAsync(database));

        await backend.GetRequiredService<EventStoreSchema>().EnsureAsync(CancellationToken.None);
        var accounts = backend.GetRequiredService<IAccountStore>();
        // More than once, and past a snapshot, so that what is updated is updated.
        var account = await EventStoreFixture.AppendAsync(accounts, "visa/a", EventStoreFixture.Opened, EventStoreFixture.Facts(150));
        account = await EventStoreFixture.AppendAsync(accounts, "visa/a", account, EventStoreFixture.Facts(150));
        var refused = await Record.ExceptionAsync(() => EventStoreFixture.AppendAsync(
            accounts, "visa/a", EventStoreFixture.Opened, EventStoreFixture.Facts(1)));

        Assert.True(EventStoreFailure.IsConflict(refused!));
        Assert.Equal(account, (await accounts.LoadAsync(["visa/a"], EventStoreFixture.Opened, CancellationToken.None))["visa/a"]);
        var audit = await new Auditor(new NpgsqlConnectionStringBuilder(database) { Username = "billing_audit", Password = "secret" }.ConnectionString)
            .RunAsync([], CancellationToken.None);
        Assert.Equal(300, audit.Events);
    }

    [Fact]
    public async Task A_function_that_appends_otherwise_is_put_right_at_the_next_start()
    {
        var database = await store.NewDatabaseAsync();
        var backend = store.NewBackend(database);
        await backend.GetRequiredService<EventStoreSchema>().EnsureAsync(CancellationToken.None);
        await using var source = NpgsqlDataSource.Create(database);
        await using var spoil = source.CreateCommand("""
            do $do$ begin
                execute replace(pg_get_functiondef((select oid from pg_proc where proname = 'append_events')), 'seq_id', 'no_such_column');
            end $do$
            """);
        await spoil.ExecuteNonQueryAsync(TestContext.Current.CancellationToken);
        var accounts = backend.GetRequiredService<IAccountStore>();
        Task<Account> AppendAsync() => EventStoreFixture.AppendAsync(accounts, "visa/a", EventStoreFixture.Opened, EventStoreFixture.Facts(3));
        Assert.NotNull(await Record.ExceptionAsync(AppendAsync));

        await store.NewBackend(database).GetRequiredService<EventStoreSchema>().EnsureAsync(CancellationToken.None);

        Assert.Equal(3, (await AppendAsync()).Version);
    }

    [Fact]
    public async Task A_service_that_finds_the_tables_as_they_were_left_waits_for_nobody_s_turn()
    {
        var database = await store.NewDatabaseAsync();
        await EnsureAsync(database);
        await using var source = NpgsqlDataSource.Create(database);
        await using var other = await source.OpenConnectionAsync(TestContext.Current.CancellationToken);
        await using var turn = new NpgsqlCommand("select pg_advisory_lock(x'42494C4C'::bigint)", other);
        await turn.ExecuteNonQueryAsync(TestContext.Current.CancellationToken);

        await EnsureAsync(database).WaitAsync(TimeSpan.FromMinutes(1), TestContext.Current.CancellationToken);
    }

    [Theory]
    [InlineData("drop table billing.payment_receipts")]
    [InlineData("drop table billing.mt_event_progression")]
    [InlineData("comment on table billing.payment_receipts is 'by another version'; drop table billing.account_snapshots")]
    public async Task What_was_dropped_since_the_last_start_is_made_again(string sql)
    {
        var database = await store.NewDatabaseAsync();
        await EnsureAsync(database);
        var before = await TablesAsync(database);
        await ExecuteAsync(database, sql);

        await EnsureAsync(database);

        Assert.Equal(before, await TablesAsync(database));
        Assert.StartsWith("Seen to by ", await MarkAsync(database), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("alter table billing.payment_receipts add column more int")]
    [InlineData("alter table billing.account_snapshots add check (version > 0)")]
    [InlineData("create function billing.more() returns int language sql as 'select 1'")]
    public async Task Tables_that_have_changed_since_are_looked_at_again(string sql)
    {
        var database = await store.NewDatabaseAsync();
        await EnsureAsync(database);
        var mark = await MarkAsync(database);
        await ExecuteAsync(database, sql);

        await EnsureAsync(database);

        Assert.NotEqual(mark, await MarkAsync(database));
    }

    [Fact]
    public async Task A_role_that_may_make_nothing_starts_where_another_version_has_seen_to_the_tables()
    {
        var database = await store.NewDatabaseAsync();
        await EnsureAsync(database);
        var backend = await GrantAsync(database);
        await ExecuteAsync(database, "comment on table billing.payment_receipts is 'by another version'");

        await EnsureAsync(backend);

        Assert.Equal("by another version", await MarkAsync(database));
    }

    /// <summary>Gives the rights that the bootstrap of a machine gives.</summary>
    /// <returns>How a backend's role connects.</returns>
    private static async Task<string> GrantAsync(string database)
    {
        var grants = await File.ReadAllTextAsync(
            Path.Combine(Repository.Root, "deploy/bootstrap/postgres/grants.sql"), TestContext.Current.CancellationToken);
        // Roles are the server's, and another test may have made them.
        await ExecuteAsync(database, """
            do $do$ begin
                if to_regrole('billing_backend') is null then
                    create role billing_backend login password 'secret';
                    create role billing_audit login password 'secret';
                end if;
            end $do$;
            """ + grants);
        return new NpgsqlConnectionStringBuilder(database) { Username = "billing_backend", Password = "secret" }.ConnectionString;
    }

    private Task EnsureAsync(string database) =>
        store.NewBackend(database).GetRequiredService<EventStoreSchema>().EnsureAsync(CancellationToken.None);

    private static async Task ExecuteAsync(string database, string sql)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var command = source.CreateCommand(sql);
        await command.ExecuteNonQueryAsync();
    }

    private static async Task<string?> MarkAsync(string database)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var select = source.CreateCommand("select obj_description('billing.payment_receipts'::regclass, 'pg_class')");
        return await select.ExecuteScalarAsync() as string;
    }

    private static async Task<List<string>> TablesAsync(string database)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var select = source.CreateCommand(
            "select tablename from pg_tables where schemaname = 'billing' order by tablename collate \"C\"");
        await using var rows = await select.ExecuteReaderAsync();
        List<string> tables = [];
        while (await rows.ReadAsync())
        {
            tables.Add(rows.GetString(0));
        }
        return tables;
    }
}
