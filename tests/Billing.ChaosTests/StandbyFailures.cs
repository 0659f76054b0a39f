using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.LocalStack;
using Billing.LocalStack.Postgres;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.ChaosTests;

/// <summary>Everything in one process, over a primary and a standby.</summary>
public sealed class StandbyStack : StackFixture
{
    public StandbyStack()
        : base(new StackOptions
        {
            Kafka = "embedded",
            PostgresReplicas = 2,
            PaymentBackends = 2,
            BalanceBackends = 1,
            Jitter = true,
            Settings = ChaosSettings.All,
        }) => Missing = FailoverPrograms.Missing;
}

/// <summary>The failures of one of two PostgreSQL servers while payments continue.</summary>
public sealed class StandbyFailures(StandbyStack fixture) : StackFailures(fixture), IClassFixture<StandbyStack>
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private ReplicatedPostgres Servers => Stack.Replicas!;

    [Fact]
    public async Task A_primary_that_burns_with_its_disk_loses_nothing_and_an_empty_server_joins_its_standby()
    {
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(150);
        var burnt = await Servers.PrimaryAsync(Token);

        await burnt.BurnAsync();
        await traffic.WaitForMoreAsync(150);
        burnt.Start();
        await Servers.WaitUntilSafeAsync(Token);
        await traffic.WaitForMoreAsync(50);

        Assert.NotEqual(burnt.Number, (await Servers.PrimaryAsync(Token)).Number);
        await traffic.EndCleanAsync();
    }

    [Fact]
    public async Task Payments_go_on_without_a_standby_that_burns()
    {
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(150);
        var burnt = await Servers.StandbyAsync(Token);

        await burnt.BurnAsync();
        await traffic.WaitForMoreAsync(150);
        burnt.Start();
        await Servers.WaitUntilSafeAsync(Token);

        await traffic.EndCleanAsync();
    }

    [Fact]
    public async Task A_primary_that_comes_back_after_another_one_took_over_cannot_be_written_to()
    {
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(150);
        var frozen = await Servers.PrimaryAsync(Token);
        await using var session = new NpgsqlConnection(Alone(frozen));
        await session.OpenAsync(Token);

        frozen.Pause();
        try
        {
            await UntilAnotherTakesOverAsync(frozen);
            await traffic.WaitForMoreAsync(150);
        }
        finally
        {
            frozen.Resume();
        }

        await using var write = new NpgsqlCommand("create table written_to_a_former_primary ()", session);
        await Assert.ThrowsAnyAsync<NpgsqlException>(() => write.ExecuteNonQueryAsync(Token));
        await Servers.WaitUntilSafeAsync(Token);
        await traffic.EndCleanAsync();
    }

    [Fact]
    public async Task A_standby_is_not_read_by_who_opens_a_session_with_it_as_with_the_primary()
    {
        var (primary, standby) = (await Servers.PrimaryAsync(Token), await Servers.StandbyAsync(Token));
        await using var servers = new StoreServers(Options.Create(new EventStoreOptions
        {
            ConnectionString = new NpgsqlConnectionStringBuilder(Alone(
                primary))
            { Host = $"127.0.0.1:{standby.Port},127.0.0.1:{primary.Port}" }.ConnectionString,
        }));
        Task<object?> AskAsync() => servers.UseAsync(
            async (primary, token) =>
            {
                await using var question = primary.CreateCommand("select pg_is_in_recovery()");
                return await question.ExecuteScalarAsync(token);
            },
            Token);

        await Assert.ThrowsAsync<NpgsqlException>(AskAsync);

        Assert.Equal(false, await AskAsync());
    }

    [Fact]
    public async Task An_account_is_not_read_from_a_former_primary_that_does_not_know_it()
    {
        var settings = new EventStoreOptions { ConnectionString = Fixture.ConnectionString };
        await using var reading = new EventStoreDatabase("read", settings, TimeProvider.System);
        await using var writing = new EventStoreDatabase("written", settings, TimeProvider.System);
        var streamId = "visa/" + StackFixture.NewAccount();
        var opened = Account.Opened(new OpeningLimits(BillingStack.OpeningLimits));
        var reader = new ShardedReader(new ShardMap([reading.Store], TimeProvider.System));
        var retry = new EventStoreRetry(TimeProvider.System).Limited((_, _) => { });
        Task<Dictionary<string, Account>> ReadAsync() =>
            retry.ExecuteAsync(token => reader.LoadAsync([streamId], opened, token), Token);
        await ReadAsync();
        var former = await Servers.PrimaryAsync(Token);

        await former.KillPatroniAsync();
        await UntilAnotherTakesOverAsync(former);
        await writing.Servers.LookForPrimaryAsync(Token);
        var paid = new PaymentAccepted(Guid.NewGuid(), 10, "USD", DateTimeOffset.UnixEpoch) { Balance = 10 };
        await writing.Store.AppendAsync([NewEvent.Of(streamId, paid, opened)], [], Token);
        var found = await ReadAsync();
        former.Start();
        await Servers.WaitUntilSafeAsync(Token);

        Assert.Equal(1, found[streamId].Version);
    }

    [Fact]
    public async Task A_commit_that_waits_on_a_former_primary_fails_when_its_Patroni_is_started_again()
    {
        var former = await Servers.PrimaryAsync(Token);
        await using var session = new NpgsqlConnection(Alone(former));
        await session.OpenAsync(Token);

        await former.KillPatroniAsync();
        await UntilAnotherTakesOverAsync(former);
        await using var write = new NpgsqlCommand("create table that_waits_on_a_former_primary ()", session);
        var waiting = write.ExecuteNonQueryAsync(Token);
        await Poll.UntilAsync(async () =>
            (bool)(await AskAsync(
                former, $"select wait_event = 'SyncRep' from pg_stat_activity where pid = {session.ProcessID}"))!);
        former.Start();

        await Assert.ThrowsAnyAsync<NpgsqlException>(() => waiting);
        await Servers.WaitUntilSafeAsync(Token);
    }

    [Fact]
    public async Task Commits_wait_for_the_standby_after_Patroni_was_started_again()
    {
        var primary = await Servers.PrimaryAsync(Token);
        var standby = await Servers.StandbyAsync(Token);

        await primary.KillPatroniAsync();
        primary.Start();
        await Servers.WaitUntilSafeAsync(Token);

        Assert.Equal(
            $"\"{standby.Name}\"", await AskAsync(await Servers.PrimaryAsync(Token), "show synchronous_standby_names"));
    }

    [Fact]
    public async Task A_server_keeps_the_log_that_a_former_primary_needs_to_become_its_standby()
    {
        var settings = "select current_setting('wal_keep_size') = current_setting('max_wal_size')";

        Assert.Equal(true, await AskAsync(await Servers.PrimaryAsync(Token), settings));
    }

    [Fact]
    public async Task A_server_that_was_gone_before_the_primary_can_become_the_primary_alone()
    {
        var standby = await Servers.StandbyAsync(Token);
        var primary = await Servers.PrimaryAsync(Token);
        var arguments = standby.Process!.Started.Arguments;

        await standby.KillAsync();
        await Poll.UntilAsync(
            async () => !(await FailsafeMembersAsync(arguments[^1])).Contains(standby.Name, StringComparison.Ordinal));
        await primary.KillAsync();
        (await ExternalTool.RunAsync(FailoverPrograms.Python, [arguments[0], "--alone", arguments[^1]])).Succeeded();
        standby.Start();

        Assert.Same(standby, await Servers.PrimaryAsync(Token));
        primary.Start();
        await Servers.WaitUntilSafeAsync(Token);
    }

    [Fact]
    public async Task Payments_go_on_while_etcd_is_gone()
    {
        await using var traffic = Pay();
        var primary = await Servers.PrimaryAsync(Token);

        await Servers.KillEtcdAsync();
        await traffic.WaitForMoreAsync(3000);
        await Servers.StartEtcdAsync(Token);
        await Servers.WaitUntilSafeAsync(Token);

        Assert.Equal(primary.Number, (await Servers.PrimaryAsync(Token)).Number);
        await traffic.EndCleanAsync();
    }

    // Whom the primary has to reach to go on while etcd is gone; nobody else may take over from it.
    private static async Task<string> FailsafeMembersAsync(string settings)
    {
        using var http = new HttpClient();
        var address = JsonNode.Parse(await File.ReadAllTextAsync(settings, Token))!["etcd3"]!["host"];
        var answer = await http.PostAsJsonAsync(
            $"http://{address}/v3/kv/range",
            new { key = Convert.ToBase64String("/service/billing/failsafe"u8) }, Token);
        var found = JsonNode.Parse(await answer.Content.ReadAsStringAsync(Token));
        return Encoding.UTF8.GetString(Convert.FromBase64String((string)found!["kvs"]![0]!["value"]!));
    }

    // Until it is promoted, and not only holds the lock: till then it still receives what the former primary commits.
    private Task UntilAnotherTakesOverAsync(PostgresMember former) => Poll.UntilAsync(async () =>
        false.Equals(await AskAsync(Servers.Members.Single(member => member != former), "select pg_is_in_recovery()")));

    private async Task<object?> AskAsync(PostgresMember server, string question)
    {
        await using var source = NpgsqlDataSource.Create(Alone(server));
        await using var command = source.CreateCommand(question);
        return await command.ExecuteScalarAsync(Token);
    }

    // A session of the server itself, whatever it is.
    private string Alone(PostgresMember server) => new NpgsqlConnectionStringBuilder(Fixture.ConnectionString)
    {
        Host = "127.0.0.1",
        Port = server.Port,
        TargetSessionAttributes = null,
        Pooling = false,
        CommandTimeout = 60,
        CancellationTimeout = -1,
    }.ConnectionString;
}
