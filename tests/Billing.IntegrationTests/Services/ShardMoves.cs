using Billing.Auditing;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>Two databases of one event store, and moves of shards between them.</summary>
[Collection(OverEventStore.Name)]
public sealed class ShardMoves(EventStoreFixture store) : IAsyncLifetime
{
    private readonly string _stream = "visa/" + StackFixture.NewAccount();
    private readonly Guid _closed = Guid.NewGuid();
    private readonly List<AccountEvent> _facts =
    [
        .. EventStoreFixture.Facts(250),
        new PaymentAuthorised(Guid.NewGuid(), 5, "USD", new DateTimeOffset(2099, 1, 1, 0, 0, 0, TimeSpan.Zero), DateTimeOffset.UnixEpoch),
    ];
    private string[] _connections = [];
    private ServiceProvider _services = null!;
    private Account _account = EventStoreFixture.Opened;

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private int TheShard => Shard.Of(_stream);

    private IReadOnlyList<EventStoreDatabase> Databases => _services.GetRequiredService<EventStoreDatabases>().All;

    /// <summary>An account with a snapshot and a closed command, in the first database; and its neighbours.</summary>
    public async ValueTask InitializeAsync()
    {
        _connections = [await store.NewDatabaseAsync(), await store.NewDatabaseAsync()];
        _services = store.NewBackend("", ("Databases:one", _connections[0]), ("Databases:two", _connections[1]));
        await _services.EnsureEventStoreAsync(Stop);
        _account = await AppendAsync(0, _stream, _facts);
        await Databases[0].Store.CloseAsync([(new CommandId(_closed, _stream), null)], [], Stop);
        foreach (var neighbour in Enumerable.Range(0, 200))
        {
            await AppendAsync(0, $"amex/{_stream}{neighbour}", EventStoreFixture.Facts(1, seed: neighbour));
        }
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    [Fact]
    public async Task A_new_store_has_all_shards_in_the_first_database() =>
        Assert.Equal([("one", Shard.Count), ("two", 0)], (await _services.ListShardsAsync(Stop)).Select(database => (database.Name, database.Shards.Count)));

    [Fact]
    public void The_database_computes_the_same_shards()
    {
        using var database = NpgsqlDataSource.Create(_connections[0]);
        foreach (var stream in (string[])["visa/acct-1", "amex/äöü", "discover/" + new string('x', 300), ""])
        {
            using var question = database.CreateCommand("select billing.shard_of($1)");
            question.Parameters.AddWithValue(NpgsqlTypes.NpgsqlDbType.Varchar, stream);
            Assert.Equal(Shard.Of(stream), question.ExecuteScalar());
        }
    }

    [Fact]
    public async Task A_moved_shard_is_in_the_other_database_as_it_was_and_nowhere_else()
    {
        var before = await RowsAsync(0);

        var (events, _) = await MoveAsync("two");

        Assert.True(events > _facts.Count);
        Assert.Equal(before, await RowsAsync(1));
        Assert.Empty(await RowsAsync(0));
        // Each event took one number of its sequence.
        await ExecuteAsync(1, $"do $$ begin assert (select last_value from billing.mt_events_sequence) = {events}; end $$");
        // What it knows of the shards is out of date, which it learns by the first read.
        Assert.True(EventStoreFailure.IsUnavailable((await Record.ExceptionAsync(() => Reader().LoadAsync([_stream], EventStoreFixture.Opened, Stop)))!));
        Assert.Equal(_account with { Head = null }, (await Reader().LoadAsync([_stream], EventStoreFixture.Opened, Stop))[_stream]);
        var refused = await Record.ExceptionAsync(() => AppendAsync(0, _stream, EventStoreFixture.Facts(1)));
        Assert.Equal([TheShard], EventStoreFailure.Elsewhere(refused!)!);
        await Assert.ThrowsAsync<PostgresException>(() => Databases[0].Store.FindReceiptsAsync([new CommandId(_closed, _stream)], [], Stop));
        var receipts = await Databases[1].Store.FindReceiptsAsync([new CommandId(_closed, _stream), new CommandId(Guid.NewGuid(), _stream)], [], Stop);
        Assert.Equal(Wire.V1.Event.FactOneofCase.None, Assert.Single(receipts).Value.FactCase);
        await AppendAsync(1, _stream, EventStoreFixture.Facts(1));
        await AuditAsync();
    }

    [Theory]
    [InlineData("copying accounts")]
    [InlineData("copying events, pass 1")]
    [InlineData("closing it")]
    [InlineData("deleting what is left")]
    public async Task A_move_that_is_interrupted_is_completed_by_the_next_one(string when)
    {
        await Assert.ThrowsAsync<InvalidOperationException>(() => MoveAsync("two", doing => Interrupt(doing == when)));
        await AppendWhereItIsAsync();

        await MoveAsync("two");

        Assert.Empty(await RowsAsync(0));
        await AuditAsync();
    }

    [Theory]
    [InlineData("copying accounts", 0)]
    [InlineData("copying events, pass 1", 1)]
    [InlineData("closing it", 0)]
    [InlineData("deleting what is left", 1)]
    public async Task A_move_that_loses_a_database_begins_again_by_itself(string when, int place)
    {
        var done = new List<string>();

        await MoveAsync("two", doing =>
        {
            if (doing == when && !done.Contains(doing))
            {
                EndSessions(place);
            }
            done.Add(doing);
        });

        Assert.Contains(done, doing => doing.EndsWith(": beginning again", StringComparison.Ordinal));
        Assert.True((await Databases[1].Store.HeldShardsAsync(Stop)).ContainsKey(TheShard));
        Assert.Empty(await RowsAsync(0));
        await AuditAsync();
    }

    [Fact]
    public async Task A_move_begins_again_while_a_database_is_slow()
    {
        await using var other = new NpgsqlConnection(_connections[0]);
        await other.OpenAsync(Stop);
        await using var slow = await other.BeginTransactionAsync(Stop);
        await using var held = new NpgsqlCommand("lock table billing.shards", other, slow);
        await held.ExecuteNonQueryAsync(Stop);
        var done = new List<string>();

        await MoveAsync("two", doing =>
        {
            if (done.Count == 0)
            {
                slow.Rollback();
            }
            done.Add(doing);
        });

        Assert.EndsWith(": beginning again", done[0], StringComparison.Ordinal);
        Assert.True((await Databases[1].Store.HeldShardsAsync(Stop)).ContainsKey(TheShard));
    }

    [Fact]
    public async Task A_move_from_or_to_a_server_that_is_not_there_does_not_begin()
    {
        await using var services = store.NewBackend(
            "", ("Databases:one", _connections[0]), ("Databases:two", new NpgsqlConnectionStringBuilder(_connections[1]) { Host = "127.0.0.1", Port = 1 }.ConnectionString));

        await Assert.ThrowsAnyAsync<NpgsqlException>(
            () => services.MoveShardAsync(TheShard, "two", doing => throw new InvalidOperationException(doing), Stop));
    }

    [Fact]
    public async Task A_move_that_loses_a_database_each_time_is_given_up()
    {
        var begun = 0;

        await Assert.ThrowsAnyAsync<NpgsqlException>(() => MoveAsync("two", doing =>
        {
            if (doing == "copying accounts")
            {
                begun++;
                EndSessions(0);
            }
        }));

        Assert.Equal(5, begun);
    }

    [Theory]
    [InlineData("two")]
    [InlineData("one")]
    public async Task A_shard_that_is_closed_is_opened_again_by_the_next_move(string to)
    {
        // As if the move had ended between closing the shard and opening it.
        await ExecuteAsync(0, $"update billing.shards set moving_to = 'two' where number = {TheShard}");
        Assert.NotNull(EventStoreFailure.Elsewhere((await Record.ExceptionAsync(() => AppendAsync(0, _stream, EventStoreFixture.Facts(1))))!));
        await Assert.ThrowsAsync<AuditException>(AuditAsync);

        await MoveAsync(to);

        Assert.Equal(to == "two", (await Databases[1].Store.HeldShardsAsync(Stop)).ContainsKey(TheShard));
        await AppendAsync(to == "two" ? 1 : 0, _stream, EventStoreFixture.Facts(1));
        await AuditAsync();
    }

    [Fact]
    public async Task A_move_that_was_given_up_can_no_longer_open_the_shard()
    {
        var late = 0;
        var stuck = MoveAsync("two", doing =>
        {
            if (doing == "closing it")
            {
                // Meanwhile its sessions are lost, the shard is closed and opened again by somebody else, and this one goes on.
                ExecuteAsync(0, $"update billing.shards set moving_to = 'two' where number = {TheShard}").GetAwaiter().GetResult();
                ExecuteAsync(1, $"insert into billing.shards values ({TheShard}, 2, false) ").GetAwaiter().GetResult();
                ExecuteAsync(0, $"update billing.shards set moving_to = null, epoch = 3 where number = {TheShard}").GetAwaiter().GetResult();
                ExecuteAsync(1, $"update billing.shards set epoch = 9 where number = {TheShard}").GetAwaiter().GetResult();
                late++;
            }
        });

        var failure = await Assert.ThrowsAsync<StoreCopyException>(() => stuck);

        Assert.Equal(1, late);
        Assert.Contains("under a later number", failure.Message, StringComparison.Ordinal);
        Assert.False((await Databases[1].Store.HeldShardsAsync(Stop)).ContainsKey(TheShard));
    }

    [Fact]
    public async Task Two_moves_of_a_shard_at_once_are_refused()
    {
        StoreCopyException? second = null;

        await MoveAsync("two", doing =>
        {
            if (doing == "copying accounts")
            {
                second = Assert.ThrowsAsync<StoreCopyException>(() => MoveAsync("two")).GetAwaiter().GetResult();
            }
        });

        Assert.Equal($"Shard {TheShard} is being moved already.", second!.Message);
    }

    [Fact]
    public async Task An_unknown_database_is_named_and_a_store_with_former_receipts_is_not_moved()
    {
        Assert.Equal(
            "There is no database 'three'; there are one, two.", (await Assert.ThrowsAsync<StoreCopyException>(() => MoveAsync("three"))).Message);

        await ExecuteAsync(0, "create table billing.payment_receipts (transaction_id uuid primary key, event bytea not null)");
        Assert.Contains("payment_receipts", (await Assert.ThrowsAsync<StoreCopyException>(() => MoveAsync("two"))).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_row_that_differs_where_it_was_copied_to_stops_the_move()
    {
        await Assert.ThrowsAsync<InvalidOperationException>(() => MoveAsync("two", doing => Interrupt(doing == "closing it")));
        await ExecuteAsync(1, $"update billing.mt_events set data = data || '{{\"Amount\": 77}}' where stream_id = '{_stream}' and version = 7");

        var failure = await Assert.ThrowsAsync<StoreCopyException>(() => MoveAsync("two"));

        Assert.StartsWith("A row of mt_events in ", failure.Message, StringComparison.Ordinal);
        Assert.True((await Databases[0].Store.HeldShardsAsync(Stop)).ContainsKey(TheShard));
    }

    [Fact]
    public async Task Two_databases_that_were_each_begun_as_a_store_are_not_used_as_one()
    {
        var other = await store.NewDatabaseAsync();
        await store.NewBackend(other).EnsureEventStoreAsync(Stop);

        var refused = await Assert.ThrowsAsync<Hosting.StartupException>(() => store.NewBackend("", ("Databases:one", _connections[0]), ("Databases:a", other)).EnsureEventStoreAsync(Stop));

        Assert.Contains("a and one both hold shard", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("two")]
    [InlineData("one")]
    public async Task A_database_that_was_restored_to_a_time_before_a_move_takes_no_accounts_back_by_itself(string to)
    {
        await MoveAsync("two");
        await ExecuteAsync(0, $"update billing.shards set is_held = true, epoch = 1 where number = {TheShard}");

        await _services.EnsureEventStoreAsync(Stop);

        Assert.Equal(1, _services.GetRequiredService<EventStoreDatabases>().Map.Find(TheShard));
        await MoveAsync(to);
        Assert.Equal(to == "one", (await Databases[0].Store.HeldShardsAsync(Stop)).ContainsKey(TheShard));
        Assert.Equal(to == "two", (await Databases[1].Store.HeldShardsAsync(Stop)).ContainsKey(TheShard));
        await AuditAsync();
    }

    [Fact]
    public async Task A_backend_that_lacks_the_database_with_the_shards_does_not_begin_a_new_store()
    {
        for (var shard = 0; shard < Shard.Count; shard++)
        {
            await _services.MoveShardAsync(shard, "two", _ => { }, Stop);
        }

        var failure = await Assert.ThrowsAsync<Hosting.StartupException>(() => store.NewBackend(_connections[0]).EnsureEventStoreAsync(Stop));

        Assert.Contains("Billing:EventStore:Databases lacks", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_database_that_answers_slowly_is_not_taken_for_one_without_shards()
    {
        await using var databases = new EventStoreDatabases(
            Options.Create(new EventStoreOptions { ConnectionString = _connections[0] }), new ImpatientTime(), NullLogger<EventStoreDatabases>.Instance);

        await databases.EnsureAsync(Stop);

        // It has not answered in time, and nothing was begun for it: its answer counts when it comes.
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        while (databases.Map.Find(TheShard) == ShardMap.Nowhere)
        {
            await databases.Map.RefreshAsync();
            await Task.Delay(TimeSpan.FromMilliseconds(10), patience.Token);
        }
        Assert.Equal(0, databases.Map.Find(TheShard));
    }

    // Those of moves, as when a standby takes over.
    private void EndSessions(int place) => ExecuteAsync(
        place, $"select pg_terminate_backend(pid, 10000) from pg_locks where locktype = 'advisory' and classid = {ShardMove.MoveLock} and objid = {TheShard} and granted and database = (select oid from pg_database where datname = current_database())")
        .GetAwaiter().GetResult();

    private static void Interrupt(bool now)
    {
        if (now)
        {
            throw new InvalidOperationException("interrupted");
        }
    }

    private Task<(int Events, TimeSpan Closed)> MoveAsync(string to, Action<string>? report = null) =>
        _services.MoveShardAsync(TheShard, to, report ?? (_ => { }), Stop);

    private ShardedReader Reader() => new(_services.GetRequiredService<ShardMap>());

    private async Task<Account> AppendAsync(int place, string stream, IEnumerable<AccountEvent> facts)
    {
        var account = (await Databases[place].Store.LoadAsync([stream], EventStoreFixture.Opened, Stop))[stream];
        return await EventStoreFixture.AppendAsync(Databases[place].Store, stream, account, facts, areStating: true);
    }

    private async Task AppendWhereItIsAsync()
    {
        var holder = (await Databases[0].Store.HeldShardsAsync(Stop)).ContainsKey(TheShard) ? 0 : 1;
        await AppendAsync(holder, _stream, EventStoreFixture.Facts(3, seed: 5));
    }

    private async Task AuditAsync()
    {
        var audit = await new Auditor(_connections).RunAsync([], Stop);
        Assert.True(audit.IsClean, string.Join('\n', audit.Faults.SelectMany(fault => fault.Found)));
        Assert.True(audit.Events >= _facts.Count + 200);
    }

    private async Task<List<string>> RowsAsync(int place)
    {
        await using var database = NpgsqlDataSource.Create(_connections[place]);
        await using var select = database.CreateCommand($"""
            select to_jsonb(s)::text from billing.mt_streams s where billing.shard_of(id) = {TheShard} and id <> 'mt_tombstone'
            union all select (to_jsonb(e) - 'seq_id')::text from billing.mt_events e
                where billing.shard_of(coalesce(data->>'StreamId', stream_id)) = {TheShard}
            union all select to_jsonb(k)::text from billing.account_snapshots k where billing.shard_of(stream_id) = {TheShard}
            union all select to_jsonb(h)::text from billing.open_holds h where billing.shard_of(stream_id) = {TheShard} order by 1
            """);
        await using var rows = await select.ExecuteReaderAsync(Stop);
        List<string> found = [];
        while (await rows.ReadAsync(Stop))
        {
            found.Add(rows.GetString(0));
        }
        return found;
    }

    private async Task ExecuteAsync(int place, string sql)
    {
        await using var database = NpgsqlDataSource.Create(_connections[place]);
        await using var command = database.CreateCommand(sql);
        await command.ExecuteNonQueryAsync(Stop);
    }

    /// <summary>A clock for which every time is over at once.</summary>
    private sealed class ImpatientTime : TimeProvider
    {
        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            callback(state);
            return base.CreateTimer(callback, state, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }
}
