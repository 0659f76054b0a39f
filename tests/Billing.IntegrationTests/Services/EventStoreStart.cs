using Billing.Auditing;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.Hosting;
using Billing.LocalStack;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>How services create the tables of the event store when they start.</summary>
[Collection(OverEventStore.Name)]
public sealed class EventStoreStart(EventStoreFixture store)
{
    [Fact]
    public async Task Eight_services_can_start_concurrently_on_an_empty_database()
    {
        // Repeated, because it depends on chance which services conflict.
        for (var round = 0; round < 3; round++)
        {
            var database = await store.NewDatabaseAsync();
            var services = Enumerable.Range(0, 8).Select(_ => store.NewBackend(database)).ToArray();

            await Task.WhenAll(services.Select(service => Task.Run(
                () => service.EnsureEventStoreAsync(CancellationToken.None))));

            var tables = await TablesAsync(database);
            Assert.All(
                ["mt_event_progression", "mt_events", "mt_streams", "open_holds", "partition_epochs", "shards"],
                table => Assert.Contains(table, tables));
            // Releases the pooled connections, because the number of the server's connections is limited.
            await Task.WhenAll(services.Select(service => service.DisposeAsync().AsTask()));
        }
    }

    [Fact]
    public async Task A_pool_of_one_connection_is_enough()
    {
        var database = await store.NewDatabaseAsync();
        var pool =
            new NpgsqlConnectionStringBuilder(database) { MaxPoolSize = 1, Timeout = (int)Patience.TotalSeconds };

        await store.NewBackend(pool.ConnectionString).EnsureEventStoreAsync(CancellationToken.None);

        Assert.Contains("mt_events", await TablesAsync(database));
    }

    [Theory]
    [InlineData("", "idle_in_transaction_session_timeout", "10s")]
    [InlineData("-c idle_in_transaction_session_timeout=3s", "idle_in_transaction_session_timeout", "3s")]
    [InlineData("", "tcp_keepalives_idle", "4")]
    [InlineData("", "tcp_keepalives_interval", "2")]
    [InlineData("", "tcp_keepalives_count", "3")]
    [InlineData("", "tcp_user_timeout", "10000")]
    public async Task An_abandoned_transaction_keeps_its_locks_for_seconds_only(
        string options, string setting, string expected)
    {
        var database = new NpgsqlConnectionStringBuilder(await store.NewDatabaseAsync()) { Options = options };
        await using var sessions = store.NewBackend(database.ConnectionString);

        Assert.Equal(expected, await sessions.Database().Servers.AskAsync("show " + setting, CancellationToken.None));
    }

    [Fact]
    public async Task What_a_service_acknowledges_is_on_the_disk_whatever_its_role_and_database_say()
    {
        var database = await store.NewDatabaseAsync();
        var name = new NpgsqlConnectionStringBuilder(database).Database;
        await ExecuteAsync(database, $"alter database \"{name}\" set synchronous_commit = off");
        await using var sessions = store.NewBackend(database);

        Assert.Equal(
            "on", await sessions.Database().Servers.AskAsync("show synchronous_commit", CancellationToken.None));
    }

    [Theory]
    [InlineData("", 50, true, "off")]
    [InlineData("Max Auto Prepare=0;No Reset On Close=false;Options=-c enable_seqscan=on", 0, false, "on")]
    [InlineData("MaxAutoPrepare=7", 7, true, "off")]
    public async Task Prepared_statements_and_session_state_are_kept_unless_the_connection_string_says_otherwise(
        string given, int prepared, bool kept, string readsWholeTables)
    {
        await using var sessions = store.NewBackend($"{await store.NewDatabaseAsync()};{given}");
        var servers = sessions.Database().Servers;

        Assert.Equal(readsWholeTables, await servers.AskAsync("show enable_seqscan", CancellationToken.None));
        var settings = new NpgsqlConnectionStringBuilder(sessions.Database().Server().ConnectionString);
        Assert.Equal((prepared, kept), (settings.MaxAutoPrepare, settings.NoResetOnClose));
    }

    [Fact]
    public async Task An_error_on_creating_the_tables_reports_its_cause_and_not_the_statements()
    {
        var database = await store.NewDatabaseAsync();
        await using var source = NpgsqlDataSource.Create(database);
        await using var restrict = source.CreateCommand("""
            create role nobody_much login password 'secret';
            create schema billing;
            """);
        await restrict.ExecuteNonQueryAsync();
        var nobody = new NpgsqlConnectionStringBuilder(database) { Username = "nobody_much", Password = "secret" };

        var failure = await Assert.ThrowsAsync<StartupException>(() => store.NewBackend(nobody.ConnectionString)
            .EnsureEventStoreAsync(CancellationToken.None));

        Assert.StartsWith(
            "Billing:EventStore: the tables could not be created in the schema 'billing': 42501: "
                + "permission denied for ",
            failure.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("create table", failure.Message, StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public async Task A_role_without_create_rights_can_start_and_store_if_the_tables_exist()
    {
        var database = await store.NewDatabaseAsync();
        await store.NewBackend(database).EnsureEventStoreAsync(CancellationToken.None);
        var backend = store.NewBackend(await GrantAsync(database));

        await backend.EnsureEventStoreAsync(CancellationToken.None);
        var accounts = backend.Database().Store;
        // Twice, so that existing rows are updated too.
        var account = await EventStoreFixture.AppendAsync(
            accounts, "visa/a", EventStoreFixture.Opened, EventStoreFixture.Facts(150));
        account = await EventStoreFixture.AppendAsync(accounts, "visa/a", account, EventStoreFixture.Facts(150));
        var refused = await Record.ExceptionAsync(() => EventStoreFixture.AppendAsync(
            accounts, "visa/a", EventStoreFixture.Opened, EventStoreFixture.Facts(1)));

        Assert.True(EventStoreFailure.IsConflict(refused!));
        Assert.Equal(
            account,
            (await accounts.LoadAsync(["visa/a"], EventStoreFixture.Opened, CancellationToken.None))["visa/a"]);
        var auditing = new NpgsqlConnectionStringBuilder(database) { Username = "billing_audit", Password = "secret" };
        var audit = await new Auditor(auditing.ConnectionString) { OpeningLimits = BillingStack.OpeningLimits }
            .RunAsync([], CancellationToken.None);
        Assert.Equal(300, audit.Events);
    }

    [Fact]
    public async Task A_modified_append_function_is_repaired_at_the_next_start()
    {
        var database = await store.NewDatabaseAsync();
        var backend = store.NewBackend(database);
        await backend.EnsureEventStoreAsync(CancellationToken.None);
        await using var source = NpgsqlDataSource.Create(database);
        await using var modify = source.CreateCommand("""
            do $do$ begin
                execute replace(pg_get_functiondef((select oid from pg_proc where proname = 'append_events')), 'seq_id',
                    'no_such_column');
            end $do$
            """);
        await modify.ExecuteNonQueryAsync(TestContext.Current.CancellationToken);
        var accounts = backend.Database().Store;
        Task<Account> AppendAsync() =>
            EventStoreFixture.AppendAsync(accounts, "visa/a", EventStoreFixture.Opened, EventStoreFixture.Facts(3));
        Assert.NotNull(await Record.ExceptionAsync(AppendAsync));

        await store.NewBackend(database).EnsureEventStoreAsync(CancellationToken.None);

        Assert.Equal(3, (await AppendAsync()).Version);
    }

    [Fact]
    public async Task A_service_that_finds_unchanged_tables_does_not_wait_for_the_lock()
    {
        var database = await store.NewDatabaseAsync();
        await EnsureAsync(database);
        await using var source = NpgsqlDataSource.Create(database);
        await using var other = await source.OpenConnectionAsync(TestContext.Current.CancellationToken);
        await using var takeLock = new NpgsqlCommand("select pg_advisory_lock(x'42494C4C'::bigint)", other);
        await takeLock.ExecuteNonQueryAsync(TestContext.Current.CancellationToken);

        await EnsureAsync(database).WaitAsync(Patience, TestContext.Current.CancellationToken);
    }

    [Theory]
    [InlineData("drop table billing.partition_epochs")]
    [InlineData("drop table billing.mt_event_progression")]
    [InlineData("comment on table billing.shards is 'by another version'; drop table billing.partition_epochs")]
    public async Task Dropped_tables_are_recreated_at_the_next_start(string sql)
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
    [InlineData("drop index billing.mt_events_credit_limit_changed_v1")]
    [InlineData("drop index billing.mt_events_follow_ups")]
    [InlineData("drop index billing.mt_events_timestamp")]
    [InlineData("alter table billing.mt_events drop constraint mt_events_command")]
    public async Task Dropped_indexes_and_keys_are_made_again_at_the_next_start(string sql)
    {
        var database = await store.NewDatabaseAsync();
        await EnsureAsync(database);
        var before = await IndexesAsync(database);
        await ExecuteAsync(database, sql);
        Assert.NotEqual(before, await IndexesAsync(database));

        await EnsureAsync(database);

        Assert.Equal(before, await IndexesAsync(database));
    }

    [Theory]
    [InlineData("alter table billing.partition_epochs add column more int")]
    [InlineData("alter table billing.shards add check (epoch > 0)")]
    [InlineData("create function billing.more() returns int language sql as 'select 1'")]
    public async Task Changed_tables_are_checked_again_at_the_next_start(string sql)
    {
        var database = await store.NewDatabaseAsync();
        await EnsureAsync(database);
        var mark = await MarkAsync(database);
        await ExecuteAsync(database, sql);

        await EnsureAsync(database);

        Assert.NotEqual(mark, await MarkAsync(database));
    }

    /// <summary>So that an update of a row finds room in its page.</summary>
    [Theory]
    [InlineData("alter table billing.mt_streams reset (fillfactor)", "{fillfactor=80}")]
    [InlineData("alter table billing.mt_streams set (fillfactor = 60)", "{fillfactor=60}")]
    public async Task Pages_of_streams_are_not_filled_unless_an_administrator_says_how_far(
        string before, string expected)
    {
        var database = await store.NewDatabaseAsync();
        await EnsureAsync(database);
        await ExecuteAsync(database, before + "; comment on table billing.shards is 'by another version'");

        await EnsureAsync(database);

        await using var source = NpgsqlDataSource.Create(database);
        await using var select = source.CreateCommand(
            "select reloptions::text from pg_class where oid = 'billing.mt_streams'::regclass");
        Assert.Equal(expected, await select.ExecuteScalarAsync(TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task A_role_without_create_rights_starts_on_tables_of_another_version()
    {
        var database = await store.NewDatabaseAsync();
        await EnsureAsync(database);
        var backend = await GrantAsync(database);
        await ExecuteAsync(database, "comment on table billing.shards is 'by another version'");

        await EnsureAsync(backend);

        Assert.Equal("by another version", await MarkAsync(database));
    }

    /// <summary>Grants the rights that the bootstrap of a machine grants.</summary>
    /// <returns>The connection string of a backend's role.</returns>
    private static async Task<string> GrantAsync(string database)
    {
        var grants = await File.ReadAllTextAsync(
            Path.Combine(Repository.Root, "deploy/bootstrap/postgres/grants.sql"),
            TestContext.Current.CancellationToken);
        // Roles belong to the server, and another test may have created them.
        await ExecuteAsync(database, """
            do $do$ begin
                if to_regrole('billing_backend') is null then
                    create role billing_backend login password 'secret';
                    create role billing_audit login password 'secret';
                    create role billing_webhooks login password 'secret';
                end if;
            end $do$;
            """ + grants);
        return new NpgsqlConnectionStringBuilder(
            database)
        { Username = "billing_backend", Password = "secret" }.ConnectionString;
    }

    private Task EnsureAsync(string database) =>
        store.NewBackend(database).EnsureEventStoreAsync(CancellationToken.None);

    private static async Task ExecuteAsync(string database, string sql)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var command = source.CreateCommand(sql);
        await command.ExecuteNonQueryAsync();
    }

    private static async Task<string?> MarkAsync(string database)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var select = source.CreateCommand("select obj_description('billing.shards'::regclass, 'pg_class')");
        return await select.ExecuteScalarAsync() as string;
    }

    private static Task<List<string>> TablesAsync(string database) => TextsAsync(
        database, "select tablename from pg_tables where schemaname = 'billing' order by tablename collate \"C\"");

    /// <summary>The indexes and keys of the events.</summary>
    private static Task<List<string>> IndexesAsync(string database) => TextsAsync(database, """
        select pg_get_indexdef(i.indexrelid) || coalesce(' ' || k.conname, '')
        from pg_index i left join pg_constraint k on k.conindid = i.indexrelid
        where i.indrelid = 'billing.mt_events'::regclass order by 1
        """);

    private static async Task<List<string>> TextsAsync(string database, string sql)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var select = source.CreateCommand(sql);
        await using var rows = await select.ExecuteReaderAsync();
        List<string> texts = [];
        while (await rows.ReadAsync())
        {
            texts.Add(rows.GetString(0));
        }
        return texts;
    }
}
