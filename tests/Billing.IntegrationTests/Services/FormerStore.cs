using Billing.Auditing;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Google.Protobuf;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>A store that an earlier release has made: events are found by receipts in a table of their own.</summary>
[Collection(OverEventStore.Name)]
public sealed class FormerStore(EventStoreFixture store) : IAsyncLifetime
{
    private const string Stream = "visa/former";

    private readonly List<AccountEvent> _former = [.. EventStoreFixture.Facts(3)];
    private readonly Guid _closed = Guid.NewGuid();
    private string _database = "";
    private Account _account = EventStoreFixture.Opened;

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    /// <summary>Makes the store as the earlier release has left it.</summary>
    public async ValueTask InitializeAsync()
    {
        _database = await store.NewDatabaseAsync();
        var accounts = await StartAsync();
        _account = await EventStoreFixture.AppendAsync(accounts, Stream, _account, _former);
        await ExecuteAsync("""
            alter table billing.mt_events drop constraint mt_events_command;
            update billing.mt_events set id = gen_random_uuid(), data = data - 'Balance' where stream_id <> 'mt_tombstone';
            create table billing.payment_receipts (transaction_id uuid primary key, event bytea not null)
            """);
        var account = EventStoreFixture.Opened;
        foreach (var fact in _former)
        {
            account = account.Apply(fact);
            await AddReceiptAsync(fact.TransactionId, RecordedEvent.ToWire(Stream, fact, account).ToByteArray());
        }
        await AddReceiptAsync(_closed, []);
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    [Fact]
    public async Task Commands_of_that_time_are_answered_from_their_receipts_and_those_of_other_accounts_are_not()
    {
        var accounts = await StartAsync();
        var ids = _former.ConvertAll(fact => new CommandId(fact.TransactionId, Stream));

        var found = await accounts.FindReceiptsAsync([.. ids, ids[0] with { StreamId = "visa/other" }, new CommandId(_closed, Stream)], [], Stop);

        Assert.Equal([.. ids, new CommandId(_closed, Stream)], found.Keys.OrderBy(id => found[id].Version == 0 ? 9 : found[id].Version));
        Assert.Equal([1, 2, 3, 0], found.Values.OrderBy(e => e.Version == 0 ? 9 : e.Version).Select(e => e.Version));
        Assert.Equal(Wire.V1.Event.FactOneofCase.None, found[new CommandId(_closed, Stream)].FactCase);
    }

    [Fact]
    public async Task What_is_recorded_and_closed_now_has_a_receipt_there_as_well_which_the_earlier_release_reads()
    {
        var accounts = await StartAsync();
        var (added, closed) = (EventStoreFixture.Facts(1).Single(), new CommandId(Guid.NewGuid(), Stream));
        await EventStoreFixture.AppendAsync(accounts, Stream, _account, [added]);
        await accounts.CloseAsync([(closed, null)], [], Stop);

        Assert.Equal(4, Wire.V1.Event.Parser.ParseFrom((await ReceiptAsync(added.TransactionId))!).Version);
        Assert.Empty((await ReceiptAsync(closed.TransactionId))!);
        var audit = await new Auditor(_database).RunAsync([], Stop);
        Assert.True(audit.IsClean, string.Join('\n', audit.Unbalanced));
        Assert.Equal((4, 1), (audit.Events, audit.Receipts));
    }

    [Fact]
    public async Task Appends_go_on_when_the_table_is_dropped()
    {
        var accounts = await StartAsync();
        var facts = new List<AccountEvent> { new Payment(Guid.NewGuid(), 1, "USD").Decide(_account, DateTimeOffset.UnixEpoch) };
        _account = await EventStoreFixture.AppendAsync(accounts, Stream, _account, facts);
        facts.Add(new Payment(Guid.NewGuid(), 1, "USD").Decide(_account, DateTimeOffset.UnixEpoch));
        await ExecuteAsync("drop table billing.payment_receipts");

        var failure = await Record.ExceptionAsync(() => EventStoreFixture.AppendAsync(accounts, Stream, _account, facts[1..]));
        Assert.True(EventStoreFailure.IsRetryable(failure!), $"{failure}");
        await EventStoreFixture.AppendAsync(accounts, Stream, _account, facts[1..]);

        Assert.Equal(2, (await accounts.FindReceiptsAsync(facts.ConvertAll(f => new CommandId(f.TransactionId, Stream)), [], Stop)).Count);
        // What the earlier release has recorded has no receipts any more. What this one has recorded always has.
        var audit = await new Auditor(_database).RunAsync([], Stop);
        Assert.True(audit.IsClean, string.Join('\n', audit.Unbalanced));
        await ExecuteAsync("update billing.mt_events set id = gen_random_uuid() where stream_id = 'visa/former' and version = 5");
        Assert.Contains("no receipt", Assert.Single((await new Auditor(_database).RunAsync([], Stop)).Unbalanced), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Payments_go_on_while_the_first_start_indexes_the_events_and_a_start_that_was_interrupted_is_made_up_for()
    {
        await using var source = NpgsqlDataSource.Create(_database);
        await using var session = await source.OpenConnectionAsync(Stop);
        await using (var append = await session.BeginTransactionAsync(Stop))
        {
            // As an append that takes long: the index is built once it has ended.
            await ExecuteAsync(session, "update billing.mt_streams set version = version where id = 'visa/former'; update billing.mt_events set is_archived = is_archived where version = 1");
            await ExecuteAsync("set lock_timeout = '100ms'; create unique index concurrently mt_events_command on billing.mt_events (id)", mayFail: true);
            var start = StartAsync();
            await ConditionAsync("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%index concurrently%')");
            await ExecuteAsync("insert into billing.mt_streams (id, version) values ('visa/meanwhile', 1); "
                + "insert into billing.mt_events (seq_id, id, stream_id, version, type, timestamp, data) values (1000, gen_random_uuid(), 'visa/meanwhile', 1, 'payment_accepted_v1', now(), '{}')");
            Assert.False(start.IsCompleted);
            await append.CommitAsync(Stop);
            await start;
        }

        await ConditionAsync("select exists (select from pg_index i join pg_constraint c on c.conindid = i.indexrelid where c.conname = 'mt_events_command' and i.indisvalid)");
    }

    private async Task<IAccountStore> StartAsync()
    {
        var backend = store.NewBackend(_database);
        await backend.EnsureEventStoreAsync(Stop);
        return backend.Database().Store;
    }

    private async Task AddReceiptAsync(Guid id, byte[] recorded)
    {
        await using var source = NpgsqlDataSource.Create(_database);
        await using var insert = source.CreateCommand("insert into billing.payment_receipts values ($1, $2)");
        insert.Parameters.AddWithValue(id);
        insert.Parameters.AddWithValue(recorded);
        await insert.ExecuteNonQueryAsync(Stop);
    }

    private async Task<byte[]?> ReceiptAsync(Guid id)
    {
        await using var source = NpgsqlDataSource.Create(_database);
        await using var select = source.CreateCommand("select event from billing.payment_receipts where transaction_id = $1");
        select.Parameters.AddWithValue(id);
        return await select.ExecuteScalarAsync(Stop) as byte[];
    }

    private async Task ConditionAsync(string sql)
    {
        await using var source = NpgsqlDataSource.Create(_database);
        await using var question = source.CreateCommand(sql);
        while (await question.ExecuteScalarAsync(Stop) is not true)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(20), Stop);
        }
    }

    private async Task ExecuteAsync(string sql, bool mayFail = false)
    {
        await using var source = NpgsqlDataSource.Create(_database);
        await using var session = await source.OpenConnectionAsync(Stop);
        try
        {
            foreach (var statement in sql.Split(';'))
            {
                await ExecuteAsync(session, statement);
            }
        }
        catch (PostgresException) when (mayFail)
        {
            // The index is left behind, not valid.
        }
    }

    private static async Task ExecuteAsync(NpgsqlConnection session, string sql)
    {
        await using var command = new NpgsqlCommand(sql, session);
        await command.ExecuteNonQueryAsync(Stop);
    }
}
