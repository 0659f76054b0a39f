using Billing.Auditing.Chains;
using Billing.Backends.Domain;
using Billing.Backends.Hosting;
using Billing.IntegrationTests.Services;
using Npgsql;

namespace Billing.IntegrationTests.Operator;

/// <summary>Whether it shows what is done to events behind the platform's back.</summary>
public sealed class TamperEvidence(EventStoreFixture store) : IClassFixture<EventStoreFixture>, IAsyncLifetime
{
    private readonly string _heads = Path.Combine(Path.GetTempPath(), $"billing-heads-{Guid.NewGuid():N}.csv");
    private string _database = "";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _database = await store.NewDatabaseAsync();
        var backend = store.NewBackend(_database);
        await backend.EnsureEventStoreAsync(Token);
        foreach (var stream in (string[])["visa/a", "visa/b", "visa/c"])
        {
            var facts = EventStoreFixture.Facts(7)
                .Select(fact => fact with { By = new Sender("Zoë \"1\" \\ \U0001F4B3 \u2028\u0001") });
            await EventStoreFixture.AppendAsync(backend.Database().Store, stream, EventStoreFixture.Opened, facts);
        }
    }

    public ValueTask DisposeAsync()
    {
        File.Delete(_heads);
        return ValueTask.CompletedTask;
    }

    [Fact]
    public async Task What_the_platform_has_recorded_is_found_as_it_was_recorded()
    {
        var result = await VerifyAsync();

        Assert.Empty(result.Broken);
        Assert.Equal((3, 21), (result.Accounts, result.Events));
    }

    [Theory]
    [InlineData(
        "update mt_events set data = jsonb_set(data, '{Amount}', '1.01') where {v} = 1", "visa/b version 1: altered")]
    [InlineData(
        "update mt_events set data = jsonb_set(data, '{By,Subject}', '\"mallory\"') where {v} = 7",
        "visa/b version 7: altered")]
    [InlineData(
        "update mt_events set data = data || '{\"Note\": \"none\"}' where {v} = 4", "visa/b version 4: altered")]
    [InlineData("update mt_events set data = data || '{\"Note\": null}' where {v} = 4", "visa/b version 4: altered")]
    [InlineData("update mt_events set data = data - 'By' where {v} = 4", "visa/b version 4: altered")]
    [InlineData("update mt_events set data = data || '{\"Hash\": 7}' where {v} = 4", "visa/b version 4: altered")]
    [InlineData("update mt_events set data = data - 'Hash' where {v} = 3", "visa/b version 3: put in or altered")]
    [InlineData(
        "update mt_events set data = data - 'Hash' where {v} > 0",
        "visa/b version 1: put in or altered: it has no hash")]
    [InlineData("update mt_events set type = 'payment_declined_v1' where {v} = 2", "visa/b version 2: altered")]
    [InlineData("delete from mt_events where {v} = 1", "visa/b version 1: missing; version 2 follows version 0")]
    [InlineData("delete from mt_events where {v} in (4, 5)", "visa/b version 4: missing; version 6 follows version 3")]
    [InlineData(
        "delete from mt_events where {v} = 4; update mt_events set version = version - 1 where {v} > 4",
        "visa/b version 4: altered")]
    [InlineData("delete from mt_events where {v} = 7", "visa/b: the events from version 7 to 7 are missing")]
    [InlineData("delete from mt_events where {v} > 0", "visa/b: the events from version 1 to 7 are missing")]
    [InlineData("update mt_streams set version = 6 where id = 'visa/b'", "visa/b version 7: put in")]
    [InlineData(
        "update mt_events set version = -version where {v} in (2, 3); "
            + "update mt_events set version = 5 + version where {v} < 0", "visa/b version 2: altered")]
    [InlineData(
        "insert into mt_events (seq_id, id, stream_id, version, data, type) select 1000, gen_random_uuid(), stream_id, "
            + "8, data, type from mt_events where {v} = 7; update mt_streams set version = 8 where id = 'visa/b'",
        "visa/b version 8: altered")]
    [InlineData(
        "insert into mt_events (seq_id, id, stream_id, version, data, type) select 1000, gen_random_uuid(), stream_id, "
            + "8, data - 'Hash', type from mt_events where {v} = 7; "
            + "update mt_streams set version = 8 where id = 'visa/b'",
        "visa/b version 8: put in or altered")]
    [InlineData(
        "update mt_events set data = (select data from mt_events a where a.stream_id = 'visa/a' and a.version = 2) "
            + "where {v} = 2", "visa/b version 2: altered")]
    public async Task The_first_event_that_was_altered_removed_or_put_in_is_named(string deed, string finding)
    {
        await DoAsync(deed);

        var result = await VerifyAsync();

        Assert.StartsWith(finding, Assert.Single(result.Broken), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(
        "delete from mt_events where {v} > 5; update mt_streams set version = 5 where id = 'visa/b'",
        "visa/b: the events from version 6 to 7 are missing")]
    [InlineData(
        "delete from mt_events where {v} > 0; delete from mt_streams where id = 'visa/b'",
        "visa/b: the account is missing; it had 7 events")]
    public async Task What_leaves_a_sound_chain_is_found_by_what_was_kept_elsewhere(string deed, string finding)
    {
        Assert.Empty((await VerifyWithHeadsAsync()).Broken);
        await DoAsync(deed);

        Assert.Empty((await VerifyAsync()).Broken);
        Assert.StartsWith(finding, Assert.Single((await VerifyWithHeadsAsync()).Broken), StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_account_that_has_gone_on_continues_what_was_kept_elsewhere()
    {
        Assert.Empty((await VerifyWithHeadsAsync()).Broken);
        var accounts = store.NewBackend(_database).Database().Store;
        var account = (await accounts.LoadAsync(["visa/b"], EventStoreFixture.Opened, Token))["visa/b"];
        await EventStoreFixture.AppendAsync(accounts, "visa/b", account, EventStoreFixture.Facts(3));

        Assert.Empty((await VerifyWithHeadsAsync()).Broken);
        Assert.Contains("visa/b,10,", await File.ReadAllTextAsync(_heads, Token), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Hashes_that_were_computed_anew_are_found_by_what_was_kept_elsewhere()
    {
        Assert.Empty((await VerifyWithHeadsAsync()).Broken);
        await DoAsync("delete from mt_events where {v} > 0; delete from mt_streams where id = 'visa/b'");
        var accounts = store.NewBackend(_database).Database().Store;
        await EventStoreFixture.AppendAsync(
            accounts, "visa/b", EventStoreFixture.Opened, EventStoreFixture.Facts(7, seed: 1));

        Assert.Empty((await VerifyAsync()).Broken);
        Assert.StartsWith(
            "visa/b version 7 or an earlier one: altered, and the hashes since then computed anew",
            Assert.Single((await VerifyWithHeadsAsync()).Broken), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_file_that_is_none_of_heads_is_refused_and_named()
    {
        await File.WriteAllLinesAsync(_heads, ["account,version,hash", "visa/a,seven,x"], Token);

        Assert.Equal(
            $"{_heads}, line 2: this is not a file of accounts with their versions and hashes.",
            Assert.Throws<FormatException>(() => AccountHeads.Open(_heads)).Message);
    }

    private Task<ChainResult> VerifyAsync() => new ChainVerifier([_database]).RunAsync(null, Token);

    private async Task<ChainResult> VerifyWithHeadsAsync()
    {
        using var heads = AccountHeads.Open(_heads);
        var result = await new ChainVerifier([_database]).RunAsync(heads, Token);
        if (result.Broken.Count == 0)
        {
            heads.Replace();
        }
        return result;
    }

    private async Task DoAsync(string deed)
    {
        await using var database = NpgsqlDataSource.Create(_database);
        await using var command = database.CreateCommand(
            "set search_path to billing; set session_replication_role = replica; "
            + deed.Replace("{v}", "stream_id = 'visa/b' and version", StringComparison.Ordinal));
        await command.ExecuteNonQueryAsync(Token);
    }
}
