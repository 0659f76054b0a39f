using Billing.Auditing;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Hosting;
using Billing.LocalStack;
using Billing.Messaging;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>Two databases of one event store, and moves of shards between them.</summary>
[Collection(OverEventStore.Name)]
public sealed class ShardMoves(EventStoreFixture store, MovableStore movable)
    : IClassFixture<MovableStore>, IAsyncLifetime
{
    private static readonly string Stream = MovableStore.Stream;
    private static readonly Guid Closed = MovableStore.Closed;
    private string[] _connections = [];
    private ServiceProvider _services = null!;

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private static int TheShard => Shard.Of(Stream);

    private IReadOnlyList<EventStoreDatabase> Databases => _services.GetRequiredService<EventStoreDatabases>().All;

    public async ValueTask InitializeAsync()
    {
        _connections = await movable.CopyAsync();
        _services = store.NewBackend("", ("Databases:one", _connections[0]), ("Databases:two", _connections[1]));
        await _services.EnsureEventStoreAsync(Stop);
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    [Fact]
    public async Task A_new_store_has_all_shards_in_the_first_database() =>
        Assert.Equal(
            [("one", Shard.Count), ("two", 0)],
            (await _services.ListShardsAsync(Stop)).Select(database => (database.Name, database.Shards.Count)));

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

        Assert.True(events > MovableStore.Facts.Count);
        Assert.Equal(before, await RowsAsync(1));
        Assert.Empty(await RowsAsync(0));
        // Each event took one number of its sequence.
        await ExecuteAsync(
            1, $"do $$ begin assert (select last_value from billing.mt_events_sequence) = {events}; end $$");
        // What it knows of the shards is out of date, which it learns by the first read.
        Assert.True(EventStoreFailure.IsUnavailable(
            (await Record.ExceptionAsync(() => Reader().LoadAsync([Stream], EventStoreFixture.Opened, Stop)))!));
        Assert.Equal(
            movable.Account with { Head = null, Incarnation = 2 },
            (await Reader().LoadAsync([Stream], EventStoreFixture.Opened, Stop))[Stream]);
        var refused = await Record.ExceptionAsync(() => AppendAsync(0, Stream, EventStoreFixture.Facts(1)));
        Assert.Equal([TheShard], EventStoreFailure.ShardsElsewhere(refused!)!);
        await Assert.ThrowsAsync<PostgresException>(
            () => Databases[0].Store.FindReceiptsAsync([new CommandId(Closed, Stream)], [], Stop));
        var receipts = await Databases[1].Store
            .FindReceiptsAsync([new CommandId(Closed, Stream), new CommandId(Guid.NewGuid(), Stream)], [], Stop);
        Assert.Equal(Wire.V1.Event.FactOneofCase.None, Assert.Single(receipts).Value.FactCase);
        await AppendAsync(1, Stream, EventStoreFixture.Facts(1));
        await AuditAsync();
    }

    /// <summary>Each database has closed a command under the same sequence number, before the move, between two passes
    /// of it, or just before the shard is closed.</summary>
    [Theory]
    [InlineData("")]
    [InlineData("copying accounts")]
    [InlineData("copying events, pass 1")]
    [InlineData("closing it")]
    public async Task Commands_that_both_databases_have_closed_under_one_number_do_not_stop_a_move(string when)
    {
        var other = StreamIn(theShard: false);
        await _services.MoveShardAsync(Shard.Of(other), "two", _ => { }, Stop);
        void Meanwhile(string doing)
        {
            if (doing == "copying accounts")
            {
                // As many events as in the first database were recorded in the second one before it closes a command.
                var number = NumberAsync(0, when.Length > 0
                    ? "last_value + 1 from billing.mt_events_sequence"
                    : "max(seq_id) from billing.mt_events where stream_id = 'mt_tombstone'")
                    .GetAwaiter().GetResult();
                ExecuteAsync(1, $"select setval('billing.mt_events_sequence', {number}, false)").GetAwaiter()
                    .GetResult();
                Databases[1].Store.CloseAsync([(new CommandId(Guid.NewGuid(), other), null)], [], Stop).GetAwaiter()
                    .GetResult();
            }
            if (doing == when)
            {
                Databases[0].Store.CloseAsync([(new CommandId(Guid.NewGuid(), Stream), null)], [], Stop).GetAwaiter()
                    .GetResult();
            }
        }

        await MoveAsync("two", Meanwhile);

        Assert.Empty(await RowsAsync(0));
        Assert.Equal(
            when.Length == 0 ? 1 : 2,
            (await RowsAsync(1)).Count(row => row.Contains("mt_tombstone", StringComparison.Ordinal)));
        await AuditAsync();
        await MoveAsync("one");
        Assert.Empty(await RowsAsync(1));
        await AuditAsync();
    }

    [Fact]
    public async Task A_shard_goes_back_and_forth_with_all_its_rows()
    {
        var before = await RowsAsync(0);

        foreach (var (to, place) in ((string, int)[])[("two", 1), ("one", 0), ("two", 1)])
        {
            await MoveAsync(to);
            Assert.Equal(before, await RowsAsync(place));
            Assert.Empty(await RowsAsync(1 - place));
            await AuditAsync();
            var closed = new CommandId(Guid.NewGuid(), Stream);
            await Databases[place].Store.CloseAsync([(closed, null)], [], Stop);
            await AppendAsync(place, Stream, EventStoreFixture.Facts(2));
            before = await RowsAsync(place);
        }
    }

    /// <summary>Killed at one step on the way to the other database, undone or not, and at another
    /// step on the way back.</summary>
    [Theory]
    [InlineData("copying accounts", "two", "closing it", "one")]
    [InlineData("copying events, pass 1", "one", "deleting what is left", "two")]
    [InlineData("closing it", "two", "deleting what is left", "one")]
    [InlineData("closing it", "one", "copying accounts", "one")]
    [InlineData("deleting what is left", "one", "copying events, pass 1", "two")]
    [InlineData("deleting what is left", "two", "deleting what is left", "two")]
    public async Task A_move_that_was_interrupted_can_be_undone_or_completed_and_leaves_no_rows_behind(
        string first, string then, string second, string end)
    {
        foreach (var (when, to) in ((string, string)[])[(first, then), (second, end)])
        {
            var holder = await HolderAsync();
            await Assert.ThrowsAsync<InvalidOperationException>(
                () => MoveAsync(holder == 0 ? "two" : "one", doing => Interrupt(doing == when)));
            await AppendWhereItIsAsync();
            await Databases[await HolderAsync()].Store
                .CloseAsync([(new CommandId(Guid.NewGuid(), Stream), null)], [], Stop);

            await MoveAsync(to);

            Assert.Equal(to == "one" ? 0 : 1, await HolderAsync());
            Assert.Empty(await RowsAsync(to == "one" ? 1 : 0));
            await AuditAsync();
        }
    }

    /// <summary>A database was restored to an earlier time than a move from it that was interrupted:
    /// the other one has copies of what the first has lost, and records otherwise now.</summary>
    [Fact]
    public async Task What_an_interrupted_move_has_copied_and_is_no_longer_so_does_not_stop_the_next_one()
    {
        await Assert.ThrowsAsync<InvalidOperationException>(
            () => MoveAsync("two", doing => Interrupt(doing == "closing it")));
        var lost = StreamIn(theShard: true);
        await ExecuteAsync(1, $"""
            insert into billing.mt_streams (id, version, timestamp, created) values ('{lost}', 1, now(), now());
            insert into billing.mt_events (seq_id, id, stream_id, version, data, type, timestamp)
            select nextval('billing.mt_events_sequence'), gen_random_uuid(), n.stream, n.version, e.data, e.type, now()
            from billing.mt_events e, (values ('{lost}', 1), ('{Stream}', 252), ('{Stream}', 253),
                ('{Stream}', 254)) n(stream, version)
            where e.stream_id = '{Stream}' and e.version = 1;
            update billing.mt_events set version = 255 where stream_id = '{Stream}' and version = 7
            """);
        await AppendAsync(0, Stream, EventStoreFixture.Facts(2));
        var before = await RowsAsync(0);

        await MoveAsync("two");

        Assert.Equal(before, await RowsAsync(1));
        Assert.Empty(await RowsAsync(0));
        await AppendAsync(1, Stream, EventStoreFixture.Facts(1));
        await AuditAsync();
    }

    [Theory]
    [InlineData("copying events, pass 1", true)]
    [InlineData("closing it", true)]
    [InlineData("copying events, pass 1", false)]
    [InlineData("closing it", false)]
    public async Task An_account_that_is_archived_or_no_longer_so_during_a_move_is_so_in_the_other_database(
        string when, bool isArchived)
    {
        string Archive(bool so) =>
            $"update billing.mt_streams set is_archived = {so} where id = '{Stream}'; "
            + $"update billing.mt_events set is_archived = {so} where stream_id = '{Stream}'";
        await ExecuteAsync(0, Archive(!isArchived));
        List<string> before = [];

        await MoveAsync("two", doing =>
        {
            if (doing == when)
            {
                ExecuteAsync(0, Archive(isArchived)).GetAwaiter().GetResult();
                before = RowsAsync(0).GetAwaiter().GetResult();
            }
        });

        Assert.Equal(before, await RowsAsync(1));
        Assert.Empty(await RowsAsync(0));
    }

    [Theory]
    [InlineData(
        "alter table billing.mt_events add column more int not null default 0; "
            + "alter table billing.mt_events alter column more drop default",
        "alter table billing.mt_events drop column more")]
    [InlineData(
        "alter table billing.open_holds add column more int not null default 0; "
            + "alter table billing.open_holds alter column more drop default",
        "alter table billing.open_holds drop column more")]
    [InlineData(
        "alter table billing.mt_events add constraint more check (false) not valid",
        "alter table billing.mt_events drop constraint more")]
    public async Task A_move_that_fails_while_the_shard_is_closed_opens_it_again_and_can_be_made_later(
        string change, string gone)
    {
        var fresh = StreamIn(theShard: true);
        var failure = await Assert.ThrowsAsync<StoreCopyException>(() => MoveAsync("two", doing =>
        {
            if (doing == "closing it")
            {
                ExecuteAsync(1, change).GetAwaiter().GetResult();
                AppendAsync(0, fresh, EventStoreFixture.Facts(2)).GetAwaiter().GetResult();
            }
        }));

        Assert.Contains("more", failure.Message, StringComparison.Ordinal);
        Assert.Equal(0, await HolderAsync());
        await AppendAsync(0, Stream, EventStoreFixture.Facts(1));
        await ExecuteAsync(1, gone);
        await MoveAsync("two");
        Assert.Equal(1, await HolderAsync());
        await AuditAsync();
    }

    [Fact]
    public async Task A_database_that_has_seen_later_numbers_of_a_shard_gets_it_by_one_move()
    {
        // The database that holds it was restored to a time before several moves.
        await ExecuteAsync(1, $"insert into billing.shards (number, epoch, is_held) values ({TheShard}, 9, false)");

        await MoveAsync("two");

        Assert.Equal(1, await HolderAsync());
        Assert.True((await Databases[1].Store.HeldShardsAsync(Stop))[TheShard] > 9);
    }

    /// <summary>What a move has copied, or has not deleted yet, is due in the database that holds the shard.</summary>
    [Fact]
    public async Task Holds_are_due_only_in_the_database_that_holds_their_shard()
    {
        var begun = DateTimeOffset.UnixEpoch;
        var hold = new PaymentAuthorised(Guid.NewGuid(), 5, "USD", begun, begun) { Balance = 0 };
        await AppendAsync(0, Stream, [hold]);
        await ExecuteAsync(
            1,
            $"insert into billing.open_holds (stream_id, payment_id, expires_at) values ('{Stream}', "
                + $"'{hold.TransactionId}', now() - interval '1 day')");

        Assert.Empty(await Databases[1].Store.TakeDueHoldsAsync(TimeProvider.System.GetUtcNow(), 9, Stop));
        await ExecuteAsync(0, $"update billing.shards set moving_to = 'two' where number = {TheShard}");
        Assert.Empty(await Databases[0].Store.TakeDueHoldsAsync(TimeProvider.System.GetUtcNow(), 9, Stop));
        await ExecuteAsync(0, $"update billing.shards set moving_to = null where number = {TheShard}");

        Assert.Equal(
            new CommandId(hold.TransactionId, Stream),
            Assert.Single(await Databases[0].Store.TakeDueHoldsAsync(TimeProvider.System.GetUtcNow(), 9, Stop)));
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
            "", ("Databases:one", _connections[0]), (
                "Databases:two",
                new NpgsqlConnectionStringBuilder(_connections[1]) { Host = "127.0.0.1", Port = 1 }.ConnectionString));

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
        Assert.NotNull(EventStoreFailure.ShardsElsewhere(
            (await Record.ExceptionAsync(() => AppendAsync(0, Stream, EventStoreFixture.Facts(1))))!));
        await Assert.ThrowsAsync<AuditException>(AuditAsync);

        await MoveAsync(to);

        Assert.Equal(to == "two", (await Databases[1].Store.HeldShardsAsync(Stop)).ContainsKey(TheShard));
        await AppendAsync(to == "two" ? 1 : 0, Stream, EventStoreFixture.Facts(1));
        await AuditAsync();
    }

    [Fact]
    public async Task A_shard_that_a_killed_move_closes_late_is_opened_again_by_the_move_that_takes_it_back()
    {
        await using var killed = new NpgsqlConnection(_connections[0] + ";Pooling=false");
        await killed.OpenAsync(Stop);
        await using var hold = new NpgsqlCommand($"select pg_advisory_lock({ShardMove.MoveLock}, {TheShard})", killed);
        await hold.ExecuteNonQueryAsync(Stop);

        var back = MoveAsync("one");
        await Poll.UntilAsync(
            async () => await NumberAsync(
                0,
                "count(*) from pg_locks where locktype = 'advisory' and classid = "
                    + $"{ShardMove.MoveLock} and not granted") > 0,
            Stop);
        await ExecuteAsync(0, $"update billing.shards set moving_to = 'two' where number = {TheShard}");
        await killed.CloseAsync();
        await back;

        await AppendAsync(0, Stream, EventStoreFixture.Facts(1));
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
                // Meanwhile its sessions are lost, the shard is closed and opened again by somebody else,
                // and this one goes on.
                ExecuteAsync(0, $"update billing.shards set moving_to = 'two' where number = {TheShard}").GetAwaiter()
                    .GetResult();
                ExecuteAsync(1, $"insert into billing.shards values ({TheShard}, 2, false) ").GetAwaiter().GetResult();
                ExecuteAsync(0, $"update billing.shards set moving_to = null, epoch = 3 where number = {TheShard}")
                    .GetAwaiter().GetResult();
                ExecuteAsync(1, $"update billing.shards set epoch = 9 where number = {TheShard}").GetAwaiter()
                    .GetResult();
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
    public async Task An_unknown_database_is_named() => Assert.Equal(
        "There is no database 'three'; there are one, two.",
        (await Assert.ThrowsAsync<StoreCopyException>(() => MoveAsync("three"))).Message);

    /// <summary>Restored to a moment of a move at which the shard was closed: what was recorded after
    /// the move is lost.</summary>
    [Fact]
    public async Task A_shard_that_was_being_moved_begins_a_new_incarnation_too_when_its_databases_were_restored()
    {
        await ExecuteAsync(0, $"update billing.shards set moving_to = 'two' where number = {TheShard}");
        var begun = TimeProvider.System.GetUtcNow().ToUnixTimeSeconds();

        await _services.BeginIncarnationAsync(Stop);
        await MoveAsync("two");

        Assert.InRange(
            (await Reader().LoadAsync([Stream], EventStoreFixture.Opened, Stop))[Stream].Incarnation,
            begun, long.MaxValue);
    }

    [Fact]
    public async Task No_owner_of_a_partition_from_before_a_restore_renews_its_epoch()
    {
        var (partition, owner) = (new SourcePartition("billing.payments.visa", 0), Guid.NewGuid());
        var store = _services.DatabaseOf(Stream);
        var begun = await store.BeginEpochsAsync([new PartitionEpoch(partition, 0)], owner, Stop);

        await _services.BeginIncarnationAsync(Stop);

        Assert.Empty(await store.BeginEpochsAsync([new PartitionEpoch(partition, begun[partition])], owner, Stop));
    }

    /// <summary>Restored to the moment between the two statements that open the shard there
    /// and close it here.</summary>
    [Fact]
    public async Task A_shard_that_had_been_moved_stays_where_it_is_open_when_its_databases_were_restored()
    {
        await ExecuteAsync(0, $"update billing.shards set moving_to = 'two' where number = {TheShard}");
        await ExecuteAsync(1, $"insert into billing.shards (number, epoch, is_held) select {TheShard}, 2, true");

        await _services.BeginIncarnationAsync(Stop);

        Assert.Equal(("two", TheShard), (from database in await _services.ListShardsAsync(
            Stop)
                                         from shard in database.Shards
                                         where shard == TheShard
                                         select (database.Name, shard)).Single());
        await ExecuteAsync(
            1, $"do $$ begin assert (select epoch from billing.shards where number = {TheShard}) > 1000; end $$");
        await ExecuteAsync(
            0, $"do $$ begin assert (select epoch from billing.shards where number = {TheShard}) = 1; end $$");
    }

    /// <summary>Restored to a time before a move away from it, and used for a while although it no
    /// longer was the one.</summary>
    [Fact]
    public async Task A_database_that_has_recorded_something_else_for_a_shard_does_not_get_it()
    {
        await MoveAsync("two");
        await MoveAsync("one");
        await ExecuteAsync(1, $"update billing.shards set is_held = true, epoch = 1 where number = {TheShard}");
        await AppendAsync(1, Stream, EventStoreFixture.Facts(1));

        var failure = await Assert.ThrowsAsync<StoreCopyException>(() => MoveAsync("two"));

        Assert.Contains("has other events", failure.Message, StringComparison.Ordinal);
        Assert.True((await Databases[0].Store.HeldShardsAsync(Stop)).ContainsKey(TheShard));
        await AppendAsync(0, Stream, EventStoreFixture.Facts(1));
    }

    [Fact]
    public async Task Two_databases_that_were_each_begun_as_a_store_are_not_used_as_one()
    {
        var other = await store.NewDatabaseAsync();
        await store.NewBackend(other).EnsureEventStoreAsync(Stop);

        var refused = await Assert.ThrowsAsync<Hosting.StartupException>(
            () => store.NewBackend("", ("Databases:one", _connections[0]), ("Databases:a", other))
                .EnsureEventStoreAsync(Stop));

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

        var failure = await Assert.ThrowsAsync<Hosting.StartupException>(
            () => store.NewBackend(_connections[0]).EnsureEventStoreAsync(Stop));

        Assert.Contains("Billing:EventStore:Databases lacks", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_database_that_answers_slowly_is_not_taken_for_one_without_shards()
    {
        await using var databases = new EventStoreDatabases(
            Options.Create(new EventStoreOptions { ConnectionString = _connections[0] }),
            new ImpatientTime(), NullLogger<EventStoreDatabases>.Instance);

        await databases.EnsureAsync(Stop);

        // It has not answered in time, and nothing was begun for it: its answer counts when it comes.
        await Poll.UntilAsync(async () =>
        {
            await databases.Map.RefreshAsync();
            return databases.Map.Find(TheShard) != ShardMap.Nowhere;
        });
        Assert.Equal(0, databases.Map.Find(TheShard));
    }

    private static string StreamIn(bool theShard) =>
        Enumerable.Range(0, 10_000).Select(n => $"amex/other{n}")
            .First(stream => Shard.Of(stream) == TheShard == theShard);

    private async Task<int> HolderAsync() =>
        (await Databases[0].Store.HeldShardsAsync(Stop)).ContainsKey(TheShard) ? 0 : 1;

    private async Task<long> NumberAsync(int place, string what)
    {
        await using var database = NpgsqlDataSource.Create(_connections[place]);
        await using var command = database.CreateCommand("select " + what);
        return (long)(await command.ExecuteScalarAsync(Stop))!;
    }

    // Those of moves, as when a standby takes over.
    private void EndSessions(int place) => ExecuteAsync(
        place,
        "select pg_terminate_backend(pid, 10000) from pg_locks where locktype = 'advisory' and classid = "
            + $"{ShardMove.MoveLock} and objid = {TheShard} and granted and database = (select oid from pg_database "
            + "where datname = current_database())")
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
        return await EventStoreFixture.AppendAsync(Databases[place].Store, stream, account, facts);
    }

    private async Task AppendWhereItIsAsync() =>
        await AppendAsync(await HolderAsync(), Stream, EventStoreFixture.Facts(3, seed: 5));

    private async Task AuditAsync()
    {
        var audit = await new Auditor(_connections) { OpeningLimits = BillingStack.OpeningLimits }.RunAsync([], Stop);
        Assert.True(audit.IsClean, string.Join('\n', audit.Faults.SelectMany(fault => fault.Found)));
        Assert.True(audit.Events >= MovableStore.Facts.Count + MovableStore.Neighbours);
    }

    private async Task<List<string>> RowsAsync(int place)
    {
        await using var database = NpgsqlDataSource.Create(_connections[place]);
        await using var select = database.CreateCommand($"""
            select to_jsonb(s)::text from billing.mt_streams s where billing.shard_of(id) = {TheShard}
                and id <> 'mt_tombstone'
            union all select (to_jsonb(e) - 'seq_id' - case when stream_id = 'mt_tombstone' then 'version' else ''
                end)::text from billing.mt_events e
                where billing.shard_of(coalesce(data->>'StreamId', stream_id)) = {TheShard}
            union all select to_jsonb(h)::text from billing.open_holds h where billing.shard_of(stream_id) = {TheShard}
                order by 1
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
