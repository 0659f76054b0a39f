using System.Net;
using System.Net.Sockets;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Hosting;
using Billing.Chaos.Network;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Billing.Messaging;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>An event store on several servers, and commits that wait for a standby.</summary>
public sealed class SeveralServers(EventStoreFixture store) : IClassFixture<EventStoreFixture>
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task The_primary_is_found_behind_a_server_that_is_gone()
    {
        var connection = PrimaryBehind(1);
        var backend = store.NewBackend(connection.ConnectionString);
        await backend.EnsureEventStoreAsync(Token);

        var account = await EventStoreFixture.AppendAsync(
            backend.Database().Store, "visa/" + StackFixture.NewAccount(),
            EventStoreFixture.Opened, EventStoreFixture.Facts(3));

        Assert.Equal(3, account.Version);
    }

    [Fact]
    public async Task Reads_look_for_the_primary_too()
    {
        var connection = PrimaryBehind(1);
        var backend = store.NewBackend(connection.ConnectionString);
        var stream = "visa/" + StackFixture.NewAccount();
        var account = await store.AppendAsync(stream, EventStoreFixture.Facts(3)) with { Head = null };
        var reader = new ShardedReader(backend.GetRequiredService<ShardMap>());

        var found = await backend.GetRequiredService<EventStoreRetry>().Limited((_, _) => { }).ExecuteAsync(
            token => reader.LoadAsync([stream], EventStoreFixture.Opened, token), Token);

        Assert.Equal(account, found[stream]);
    }

    [Fact]
    public async Task The_list_of_shards_is_the_primarys()
    {
        var connection = PrimaryBehind(1);

        var databases = await store.NewBackend(connection.ConnectionString).ListShardsAsync(Token);

        Assert.Equal(Shard.Count, Assert.Single(databases).Shards.Count);
    }

    [Fact]
    public async Task A_server_that_vanishes_while_a_session_waits_for_it_is_left_for_another_one()
    {
        await using var vanishing = new TcpRelay(store.Postgres.Port, RelayBehaviour.None);
        var connection = PrimaryBehind(vanishing.Port);
        // Nothing but the end of the connection ends a command.
        connection.CommandTimeout = 0;
        var servers = store.NewBackend(connection.ConnectionString).Database().Servers;
        var waiting = servers.AskAsync("select pg_sleep(100)", Token);
        await using var busy = NpgsqlDataSource.Create(store.Postgres.ConnectionString);
        await using var sleeping = busy.CreateCommand(
            "select exists (select from pg_stat_activity where wait_event = 'PgSleep')");
        while (await sleeping.ExecuteScalarAsync(Token) is not true)
        {
        }

        vanishing.Vanish();
        await Assert.ThrowsAsync<NpgsqlException>(() => waiting.WaitAsync(TimeSpan.FromMinutes(3), Token));

        Assert.Equal(1, await servers.AskAsync("select 1", Token));
    }

    [Fact]
    public async Task What_waits_for_a_server_that_hangs_ends_once_another_one_is_the_primary()
    {
        await using var hanging = new TcpRelay(store.Postgres.Port, RelayBehaviour.None);
        var connection = PrimaryBehind(hanging.Port);
        // No time-out ends a command.
        connection.CommandTimeout = 0;
        var servers = store.NewBackend(connection.ConnectionString).Database().Servers;
        Task<object?> AskAsync() => servers.AskAsync("select 1", Token).WaitAsync(TimeSpan.FromMinutes(3), Token);
        await AskAsync();

        hanging.CutOff(Cut.Both);

        await Assert.ThrowsAsync<NpgsqlException>(AskAsync);
        Assert.Equal(1, await AskAsync());
    }

    [Fact]
    public async Task A_server_that_accepts_connections_and_says_nothing_is_not_asked_again_once_the_primary_is_found()
    {
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        var connection = PrimaryBehind(((IPEndPoint)silent.LocalEndpoint).Port);
        var servers = store.NewBackend(connection.ConnectionString).Database().Servers;

        await servers.LookForPrimaryAsync(Token);
        while (silent.Pending())
        {
            (await silent.AcceptSocketAsync(Token)).Dispose();
        }
        foreach (var expected in Enumerable.Range(1, 3))
        {
            Assert.Equal(expected, await servers.AskAsync($"select {expected}", Token));
        }

        Assert.False(silent.Pending());
    }

    [Fact]
    public async Task Servers_that_are_away_are_asked_until_one_is_the_primary()
    {
        await using var folder = StackFolder.Create();
        using var ports = new FreePorts();
        await using var away = await LocalPostgres.StartNewAsync(folder, ports, cancellationToken: Token);
        var connection =
            new NpgsqlConnectionStringBuilder(away.ConnectionString) { Host = $"127.0.0.1:1,127.0.0.1:{away.Port}" };
        var servers = store.NewBackend(connection.ConnectionString).Database().Servers;
        await away.StopAsync();

        var looking = servers.LookForPrimaryAsync(Token);
        await away.StartAsync(Token);
        await looking;

        Assert.Equal(1, await servers.AskAsync("select 1", Token));
    }

    [Fact]
    public async Task The_port_of_a_single_server_may_follow_its_name()
    {
        var connection = new NpgsqlConnectionStringBuilder(
            store.Postgres.ConnectionString)
        { Host = $"127.0.0.1:{store.Postgres.Port}", Port = 1 };

        await store.NewBackend(connection.ConnectionString).EnsureEventStoreAsync(Token);
    }

    [Fact]
    public async Task Servers_without_a_primary_are_asked_again_until_the_start_has_taken_too_long()
    {
        var connection =
            new NpgsqlConnectionStringBuilder(store.Postgres.ConnectionString) { Host = "127.0.0.1:1,127.0.0.1:2" };
        var backend = store.NewBackend(connection.ConnectionString, ("StartTimeout", "00:00:01"));

        var failure = await Record.ExceptionAsync(() => backend.EnsureEventStoreAsync(Token));

        Assert.Contains(
            "PostgreSQL at 127.0.0.1:1,127.0.0.1:2, database 'billing', cannot be used",
            failure?.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_commit_whose_wait_for_a_standby_is_cut_short_is_not_taken_for_a_success()
    {
        await using var folder = StackFolder.Create();
        using var ports = new FreePorts();
        await using var postgres = await LocalPostgres.StartNewAsync(
            folder, ports,
            settings: new Dictionary<string, string> { ["wal_level"] = "replica", ["max_wal_senders"] = "2" },
            cancellationToken: Token);
        var backend = store.NewBackend(
            new NpgsqlConnectionStringBuilder(postgres.ConnectionString) { CommandTimeout = 1 }.ConnectionString);
        await backend.EnsureEventStoreAsync(Token);
        await using var source = NpgsqlDataSource.Create(postgres.ConnectionString);
        async Task<object?> AskAsync(string question)
        {
            await using var command = source.CreateCommand(question);
            return await command.ExecuteScalarAsync(Token);
        }

        await AskAsync("alter system set synchronous_standby_names = 'nobody'");
        await AskAsync("select pg_reload_conf()");

        // The server's checkpointer has commits wait, from whenever it has read the setting.
        Exception? failure = null;
        for (var tries = 0; failure is null && tries < 100; tries++)
        {
            failure = await Record.ExceptionAsync(() => AppendAsync(backend, Token));
        }
        Assert.NotNull(failure);
        Assert.True(EventStoreFailure.IsUnavailable(failure), $"{failure}");
        await Assert.ThrowsAsync<NpgsqlException>(() => BeginEpochAsync(backend, Token));

        // The server may answer to the cancellation before the session is ended.
        var patient = store.NewBackend(
            new NpgsqlConnectionStringBuilder(
                postgres.ConnectionString)
            { Host = $"127.0.0.1:{postgres.Port},127.0.0.1:1" }.ConnectionString);
        for (var tries = 0; tries < 60; tries++)
        {
            using var stopping = new CancellationTokenSource();
            Task committing = (tries % 3) switch
            {
                0 => AppendAsync(patient, stopping.Token),
                1 => BeginEpochAsync(patient, stopping.Token),
                _ => patient.Database().Store.HeldShardsAsync(stopping.Token),
            };
            while (!committing.IsCompleted
                && await AskAsync(
                    "select exists (select from pg_stat_activity where wait_event = 'SyncRep')") is not true)
            {
            }
            await stopping.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => committing);
        }
    }

    private NpgsqlConnectionStringBuilder PrimaryBehind(int port) =>
        new(store.Postgres.ConnectionString) { Host = $"127.0.0.1:{port},127.0.0.1:{store.Postgres.Port}" };

    private static Task AppendAsync(ServiceProvider backend, CancellationToken cancellationToken) =>
        backend.Database().Store.AppendAsync(
            [NewEvent.Of(
                "visa/" + StackFixture.NewAccount(),
                EventStoreFixture.Facts(1).StatedOn(EventStoreFixture.Opened).Single(), EventStoreFixture.Opened)],
            [], cancellationToken);

    private static Task<Dictionary<SourcePartition, long>> BeginEpochAsync(
        ServiceProvider backend, CancellationToken cancellationToken) => backend.Database().Store.BeginEpochsAsync(
        [new PartitionEpoch(new SourcePartition(Guid.NewGuid().ToString(), 0), 0)], Guid.NewGuid(), cancellationToken);
}
