using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Hosting;
using JasperFx;
using Marten;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>The rows that the product's own configuration stores, and how it classifies each failure.</summary>
[Collection(OverEventStore.Name)]
public sealed class Appending(EventStoreFixture store)
{
    private readonly string _stream = "visa/" + StackFixture.NewAccount();

    private PrimaryAccounts Accounts => store.Backend.Database().Store;

    [Theory]
    [InlineData("")]
    [InlineData("Timezone=America/New_York")]
    public async Task An_event_is_stored_with_the_correct_time_in_any_time_zone_of_the_server_and_the_connection(
        string setting)
    {
        var database = await store.NewDatabaseAsync();
        var name = new NpgsqlConnectionStringBuilder(database).Database;
        await store.ExecuteAsync($"alter database {name} set timezone to 'Asia/Tokyo'");
        var backend = store.NewBackend($"{database};{setting}");
        await backend.EnsureEventStoreAsync(CancellationToken.None);
        var accounts = backend.Database().Store;
        var facts = EventStoreFixture.Facts(2).ToList();
        var first = New(facts[0], EventStoreFixture.Opened);

        await accounts.AppendAsync([first], [], CancellationToken.None);
        await accounts.AppendAsync([New(facts[1], first.After)], [], CancellationToken.None);

        await using var source = NpgsqlDataSource.Create(database);
        await using var select = source.CreateCommand(
            "select max(abs(extract(epoch from timestamp - now())))::float8 from billing.mt_events");
        Assert.InRange((double)(await select.ExecuteScalarAsync())!, 0, 3600);
    }

    [Fact]
    public async Task Of_an_account_its_last_event_and_its_last_credit_limit_are_read_however_many_there_are()
    {
        // One session, so that what it has counted can be read after it.
        var backend = store.NewBackend($"{await store.NewDatabaseAsync()};Maximum Pool Size=1");
        await backend.EnsureEventStoreAsync(CancellationToken.None);
        var accounts = backend.Database().Store;
        var expected = new Dictionary<string, Account>();
        foreach (var stream in (string[])["visa/a", "visa/b", "visa/c"])
        {
            expected[stream] = await EventStoreFixture.AppendAsync(
                accounts, stream, EventStoreFixture.Opened, EventStoreFixture.Facts(950));
        }
        var before = await EventsFetchedAsync(backend);

        var loaded = await accounts.LoadAsync([.. expected.Keys], EventStoreFixture.Opened, CancellationToken.None);

        Assert.Equal(expected, loaded);
        Assert.Equal(3 * 2, await EventsFetchedAsync(backend) - before);
    }

    [Fact]
    public async Task An_account_whose_last_event_states_no_balance_is_not_read_and_the_error_says_so()
    {
        await store.AppendAsync(_stream, EventStoreFixture.Facts(3));
        await store.ExecuteAsync(
            $"update billing.mt_events set data = data - 'Balance' where stream_id = '{_stream}' and version = 3");

        var refusal = await Assert.ThrowsAsync<UnknownEventTypeException>(
            () => Accounts.LoadAsync([_stream], EventStoreFixture.Opened, CancellationToken.None));

        Assert.Contains("'Balance'", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_account_is_read_as_the_sum_of_its_events_whatever_the_last_one_is()
    {
        var expected = new Dictionary<string, Account> { ["visa/unused"] = EventStoreFixture.Opened };
        for (var count = 0; count <= 12; count++)
        {
            var (stream, account) = ($"{_stream}-{count}", EventStoreFixture.Opened);
            AccountEvent frozen = new AccountStatusChanged(Guid.NewGuid(), DateTimeOffset.UnixEpoch)
            {
                Balance = 0,
                Status = V1.AccountStatus.Frozen,
            };
            foreach (var fact in count % 2 == 0
                ? EventStoreFixture.Facts(count).Prepend(frozen)
                : EventStoreFixture.Facts(count))
            {
                account = await EventStoreFixture.AppendAsync(Accounts, stream, account, [fact]);
            }
            expected[stream] = account;
        }

        Assert.Equal(
            expected, await Accounts.LoadAsync([.. expected.Keys], EventStoreFixture.Opened, CancellationToken.None));
        Assert.Equal(3, expected.Values.Select(account => account.CreditLimit).Distinct().Take(3).Count());
    }

    [Fact]
    public async Task An_append_at_an_outdated_version_is_reported_as_a_conflict_only()
    {
        var account = await store.AppendAsync(_stream, EventStoreFixture.Facts(3));
        var stale = New(EventStoreFixture.Facts(1).Single(), account with { Version = 1 });

        AssertConflict(await Record.ExceptionAsync(() => Accounts.AppendAsync([stale], [], CancellationToken.None)));
    }

    [Fact]
    public async Task An_append_beyond_the_next_version_is_a_conflict_and_leaves_no_gap()
    {
        var account = await store.AppendAsync(_stream, EventStoreFixture.Facts(3));
        var ahead = New(EventStoreFixture.Facts(1).Single(), account with { Version = 7 });

        AssertConflict(await Record.ExceptionAsync(() => Accounts.AppendAsync([ahead], [], CancellationToken.None)));

        Assert.Equal(3, (await RowsAsync(_stream)).Count);
    }

    [Fact]
    public async Task Nothing_of_a_batch_is_stored_if_one_of_its_streams_has_a_conflict()
    {
        var other = "visa/" + StackFixture.NewAccount();
        var account = await store.AppendAsync(_stream, EventStoreFixture.Facts(3));
        var facts = EventStoreFixture.Facts(2).ToList();
        var stale = New(facts[0], account with { Version = 1 });

        var opening = NewEvent.Of(other, facts[1].StatedOn(EventStoreFixture.Opened), EventStoreFixture.Opened);

        AssertConflict(
            await Record.ExceptionAsync(() => Accounts.AppendAsync([opening, stale], [], CancellationToken.None)));

        Assert.Empty(await RowsAsync(other));
        Assert.Empty(await Accounts.FindReceiptsAsync(
            [new CommandId(facts[1].TransactionId, other)], [], CancellationToken.None));
        Assert.Equal(3, (await RowsAsync(_stream)).Count);
    }

    [Fact]
    public async Task An_append_stores_the_same_rows_as_Marten()
    {
        var martens = "visa/" + StackFixture.NewAccount();
        var facts = EventStoreFixture.Facts(5).StatedOn(EventStoreFixture.Opened).ToArray();
        await store.AppendAsync(_stream, facts);
        await using var session = Sessions();
        session.Events.StartStream(martens, facts.Cast<object>().ToArray());
        await session.SaveChangesAsync();

        Assert.Equal(await RowsAsync(martens), await RowsAsync(_stream));
        await using var reader = store.Backend.Database().Documents.QuerySession();
        Assert.Equal(facts, (await reader.Events.FetchStreamAsync(_stream)).Select(e => e.Data));
    }

    [Fact]
    public async Task Appends_by_Marten_and_by_the_store_can_alternate_on_a_stream()
    {
        var account = await store.AppendAsync(_stream, EventStoreFixture.Facts(2));
        var martens = new PaymentAccepted(Guid.NewGuid(), 5, "USD", DateTimeOffset.UnixEpoch)
        {
            Balance = account.Balance + 5,
        };
        var ours = EventStoreFixture.Facts(1).Single();
        await using (var session = Sessions())
        {
            session.Events.Append(_stream, 3, martens);
            await session.SaveChangesAsync();
        }
        var next = New(ours, account.Apply(martens));
        await Accounts.AppendAsync([next], [], CancellationToken.None);

        await using var late = Sessions();
        late.Events.Append(_stream, 4, martens);
        Assert.IsAssignableFrom<ConcurrencyException>(await Record.ExceptionAsync(() => late.SaveChangesAsync()));
        var read = await Accounts.LoadAsync([_stream], EventStoreFixture.Opened, CancellationToken.None);
        Assert.Equal(next.After, read[_stream]);
    }

    [Fact]
    public async Task Starting_an_existing_stream_is_reported_as_a_conflict_only()
    {
        await store.AppendAsync(_stream, EventStoreFixture.Facts(3));
        var opening = New(EventStoreFixture.Facts(1).Single(), EventStoreFixture.Opened);

        AssertConflict(await Record.ExceptionAsync(() => Accounts.AppendAsync([opening], [], CancellationToken.None)));
    }

    [Fact]
    public async Task A_command_that_is_recorded_is_reported_as_a_receipt_collision_only()
    {
        var fact = EventStoreFixture.Facts(1).Single();
        var account = await store.AppendAsync(_stream, [fact]);

        var refused = await Record.ExceptionAsync(
            () => Accounts.AppendAsync([New(fact, account)], [], CancellationToken.None));

        Assert.IsType<PostgresException>(refused);
        Assert.True(EventStoreFailure.IsReceiptCollision(refused));
        Assert.False(EventStoreFailure.IsConflict(refused));
        Assert.False(EventStoreFailure.IsUnavailable(refused));
    }

    [Fact]
    public async Task An_append_succeeds_after_a_failed_one()
    {
        var taken = EventStoreFixture.Facts(1).Single();
        var account = await store.AppendAsync(_stream, [taken, .. EventStoreFixture.Facts(1)]);
        await Assert.ThrowsAsync<PostgresException>(
            () => Accounts.AppendAsync([New(taken, account)], [], CancellationToken.None));

        var next = New(EventStoreFixture.Facts(1).Single(), account);
        await Accounts.AppendAsync([next], [], CancellationToken.None);

        var read = await Accounts.LoadAsync([_stream], EventStoreFixture.Opened, CancellationToken.None);
        Assert.Equal(next.After, read[_stream]);
    }

    [Fact]
    public async Task An_unreachable_server_is_reported_as_unavailable_only()
    {
        var nowhere = new NpgsqlConnectionStringBuilder(store.Postgres.ConnectionString) { Port = 1 };
        var accounts = store.NewBackend(nowhere.ConnectionString).Database().Store;

        var failure = await Record.ExceptionAsync(() => accounts.AppendAsync(
            [New(EventStoreFixture.Facts(1).Single(), EventStoreFixture.Opened)], [], CancellationToken.None));

        Assert.NotNull(failure);
        Assert.True(EventStoreFailure.IsUnavailable(failure), $"{failure}");
        Assert.False(EventStoreFailure.IsConflict(failure));
        Assert.False(EventStoreFailure.IsReceiptCollision(failure));
    }

    private static void AssertConflict(Exception? failure)
    {
        Assert.NotNull(failure);
        Assert.True(EventStoreFailure.IsConflict(failure), $"{failure}");
        Assert.False(EventStoreFailure.IsReceiptCollision(failure));
        Assert.False(EventStoreFailure.IsUnavailable(failure));
    }

    private IDocumentSession Sessions() => store.Backend.Database().Documents.LightweightSession();

    /// <summary>Returns the rows of a stream and its events without ids, sequence numbers, times and hashes.</summary>
    private async Task<List<string>> RowsAsync(string stream)
    {
        await using var database = NpgsqlDataSource.Create(store.Postgres.ConnectionString);
        await using var select = database.CreateCommand("""
            select (to_jsonb(s) - 'id' - 'timestamp' - 'created')::text
                || (to_jsonb(e) - 'seq_id' - 'id' - 'stream_id' - 'timestamp'
                    || jsonb_build_object('data', e.data - 'Hash'))::text
            from billing.mt_streams s join billing.mt_events e on e.stream_id = s.id where s.id = $1 order by e.version
            """);
        select.Parameters.AddWithValue(stream);
        await using var rows = await select.ExecuteReaderAsync();
        List<string> found = [];
        while (await rows.ReadAsync())
        {
            found.Add(rows.GetString(0));
        }
        return found;
    }

    private NewEvent New(AccountEvent fact, Account before) => NewEvent.Of(_stream, fact.StatedOn(before), before);

    private static async Task<long> EventsFetchedAsync(ServiceProvider backend)
    {
        var database = backend.Database().Servers;
        await database.AskAsync("select pg_stat_force_next_flush()", CancellationToken.None);
        return (long)(await database.AskAsync(
            "select idx_tup_fetch from pg_stat_user_tables where relname = 'mt_events'", CancellationToken.None))!;
    }
}
