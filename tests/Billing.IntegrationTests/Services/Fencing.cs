using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Messaging;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>What keeps a former owner of a partition, or a copy of a payment, from being recorded.</summary>
[Collection(OverEventStore.Name)]
public sealed class Fencing(EventStoreFixture store)
{
    private readonly SourcePartition _partition = new("billing.payments.visa/" + Guid.NewGuid(), 3);
    private readonly string _stream = "visa/" + StackFixture.NewAccount();
    private readonly Guid _id = Guid.NewGuid();

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private CommandId Id => new(_id, _stream);

    private PrimaryAccounts Accounts => store.Backend.Database().Store;

    [Fact]
    public async Task A_former_owner_can_neither_append_nor_refuse_and_learns_why()
    {
        var former = await BeginAsync(0);
        var present = await BeginAsync(0);

        var refused = await Record.ExceptionAsync(() => AppendAsync(former));

        Assert.NotNull(refused);
        Assert.True(EventStoreFailure.IsEpochOver(refused), $"{refused}");
        Assert.True(EventStoreFailure.IsRetryable(refused));
        Assert.False(EventStoreFailure.IsUnavailable(refused));
        Assert.False(EventStoreFailure.IsConflict(refused));
        Assert.Empty(await Accounts.FindReceiptsAsync([Id], [], Stop));
        Assert.Empty(await Accounts.FindReceiptsAsync([Id], [new PartitionEpoch(_partition, present)], Stop));
        refused = await Record.ExceptionAsync(
            () => Accounts.FindReceiptsAsync([Id], [new PartitionEpoch(_partition, former)], Stop));
        Assert.True(EventStoreFailure.IsEpochOver(refused!), $"{refused}");
        refused = await Record.ExceptionAsync(
            () => Accounts.CloseAsync([(Id, null)], [new PartitionEpoch(_partition, former)], Stop));
        Assert.True(EventStoreFailure.IsEpochOver(refused!), $"{refused}");

        await AppendAsync(present);
        Assert.Single(await Accounts.FindReceiptsAsync([Id], [], Stop));
    }

    [Fact]
    public async Task A_refusal_is_confirmed_only_if_its_account_is_as_it_was_decided()
    {
        Assert.Empty(await ConfirmAsync(0));
        var refused = await Record.ExceptionAsync(() => ConfirmAsync(1));
        Assert.True(EventStoreFailure.IsConflict(refused!), $"{refused}");

        await AppendAsync(await BeginAsync(0));

        Assert.Single(await ConfirmAsync(1));
        refused = await Record.ExceptionAsync(() => ConfirmAsync(0));
        Assert.True(EventStoreFailure.IsConflict(refused!), $"{refused}");
    }

    /// <summary>As for a backend that was frozen while the shard was in another database and came back
    /// under a later number.</summary>
    [Fact]
    public async Task Nothing_is_done_for_who_knows_a_shard_under_another_number()
    {
        var number = (await Accounts.HeldShardsAsync(Stop))[Shard.Of(_stream)];
        var (former, present) = (FenceOf(number + 1), FenceOf(number));

        foreach (var attempt in (Func<Task>[])
        [
            () => AppendAsync(former),
            () => Accounts.FindReceiptsAsync([Id], former, Stop),
            () => Accounts.CloseAsync([(Id, null)], former, Stop),
            () => Accounts.ConfirmAsync([Id], new Dictionary<string, long> { [_stream] = 0 }, former, Stop),
        ])
        {
            Assert.Equal(
                [Shard.Of(_stream)], EventStoreFailure.ShardsElsewhere((await Record.ExceptionAsync(attempt))!)!);
        }

        await AppendAsync(present);
        Assert.Single(await Accounts.FindReceiptsAsync([Id], present, Stop));

        Fence FenceOf(long epoch) => new([], [(Shard.Of(_stream), epoch)]);
    }

    [Fact]
    public async Task A_closed_id_names_the_command_and_who_sent_it()
    {
        await Accounts.CloseAsync([(Id, new Billing.Backends.Domain.Sender("alice"))], [], Stop);
        await using var database = NpgsqlDataSource.Create(store.Postgres.ConnectionString);
        await using var question = database.CreateCommand("select data::text from billing.mt_events where id = $1");
        question.Parameters.AddWithValue(Id.EventId);
        Assert.Equal(
            $$"""{"By": "alice", "StreamId": "{{_stream}}", "TransactionId": "{{_id}}"}""",
            (string)(await question.ExecuteScalarAsync(Stop))!);
    }

    [Fact]
    public async Task Only_the_present_owner_can_renew_its_epoch()
    {
        var former = await BeginAsync(0);
        var present = await BeginAsync(0);

        Assert.Empty(await Accounts.BeginEpochsAsync([new PartitionEpoch(_partition, former)], Guid.NewGuid(), Stop));
        Assert.Equal(present + 1, await BeginAsync(present));
    }

    [Fact]
    public async Task An_owner_that_did_not_learn_of_its_last_epoch_can_renew_it_until_another_one_owns_the_partition()
    {
        var owner = Guid.NewGuid();
        var first = await BeginAsync(0, owner);
        var unknown = await BeginAsync(first, owner);

        var next = await BeginAsync(first, owner);
        Assert.Equal(unknown + 1, next);

        await BeginAsync(0, Guid.NewGuid());
        Assert.Empty(await Accounts.BeginEpochsAsync([new PartitionEpoch(_partition, next)], owner, Stop));
    }

    [Fact]
    public async Task An_epoch_of_each_of_many_partitions_begins_at_once()
    {
        var partitions = Enumerable.Range(0, 100).Select(number => _partition with { Number = number }).ToList();

        var first = await Accounts.BeginEpochsAsync(
            [.. partitions.Select(p => new PartitionEpoch(p, 0))], Guid.NewGuid(), Stop);
        var second = await Accounts.BeginEpochsAsync(
            [.. first.Select(f => new PartitionEpoch(f.Key, f.Value)).Reverse()], Guid.NewGuid(), Stop);

        Assert.Equal(partitions.ToDictionary(p => p, p => first[p] + 1), second);
    }

    [Fact]
    public async Task A_new_epoch_begins_only_when_an_append_under_the_former_one_has_ended()
    {
        var former = await BeginAsync(0);
        await using var connection = new NpgsqlConnection(store.Postgres.ConnectionString);
        await connection.OpenAsync(Stop);
        await using var append = await connection.BeginTransactionAsync(Stop);
        await using (var hold = new NpgsqlCommand(
            "select billing.require_fence('{}', '{}', array[$1], array[$2], array[$3])", connection))
        {
            hold.Parameters.AddWithValue(_partition.Topic);
            hold.Parameters.AddWithValue(_partition.Number);
            hold.Parameters.AddWithValue(former);
            await hold.ExecuteNonQueryAsync(Stop);
        }

        var begun = BeginAsync(0);
        await IsBlockedByAsync(connection.ProcessID);
        Assert.False(begun.IsCompleted);
        await append.CommitAsync(Stop);

        Assert.Equal(former + 1, await begun);
    }

    [Fact]
    public async Task Nothing_can_be_recorded_under_a_closed_id()
    {
        var closed = await Accounts.CloseAsync([(Id, null)], [], Stop);
        Assert.Equal(Wire.V1.Event.FactOneofCase.None, closed[Id].FactCase);

        var epoch = await BeginAsync(0);
        var refused = await Record.ExceptionAsync(() => AppendAsync(epoch));

        Assert.True(EventStoreFailure.IsReceiptCollision(refused!), $"{refused}");
        Assert.Equal(closed, await Accounts.FindReceiptsAsync([Id], [], Stop));
    }

    [Fact]
    public async Task An_id_with_a_receipt_is_not_closed()
    {
        await AppendAsync(await BeginAsync(0));
        var receipts = await Accounts.FindReceiptsAsync([Id], [], Stop);

        Assert.Equal(receipts, await Accounts.CloseAsync([(Id, null)], [], Stop));
        Assert.NotEqual(Wire.V1.Event.FactOneofCase.None, receipts[Id].FactCase);
    }

    [Fact]
    public async Task Closing_an_id_waits_for_an_append_that_is_recording_it()
    {
        await using var connection = new NpgsqlConnection(store.Postgres.ConnectionString);
        await connection.OpenAsync(Stop);
        await using var append = await connection.BeginTransactionAsync(Stop);
        await using (var insert = new NpgsqlCommand("""
            with opened as (insert into billing.mt_streams (id, version) values ($2, 1) returning id)
            insert into billing.mt_events (seq_id, id, stream_id, version, type, timestamp, data)
            select nextval('billing.mt_events_sequence'), $1, id, 1, 'payment_accepted_v1', now(), $3::jsonb from opened
            """, connection))
        {
            insert.Parameters.AddWithValue(Id.EventId);
            insert.Parameters.AddWithValue(_stream);
            insert.Parameters.AddWithValue(
                $$"""{"TransactionId": "{{_id}}", "Amount": 5, "Currency": "USD", "Balance": """
                + """5, "DecidedAt": "2026-01-01T00:00:00+00:00"}""");
            await insert.ExecuteNonQueryAsync(Stop);
        }

        var closed = Accounts.CloseAsync([(Id, null)], [], Stop);
        await IsBlockedByAsync(connection.ProcessID);
        await append.CommitAsync(Stop);

        Assert.Equal(5, (await closed)[Id].PaymentAccepted.Amount.Units);
    }

    private Task<Dictionary<CommandId, Wire.V1.Event>> ConfirmAsync(long version) =>
        Accounts.ConfirmAsync([Id], new Dictionary<string, long> { [_stream] = version }, [], Stop);

    private async Task<long> BeginAsync(long epoch, Guid? owner = null) => Assert.Single(
        await Accounts.BeginEpochsAsync([new PartitionEpoch(_partition, epoch)], owner ?? Guid.NewGuid(), Stop)).Value;

    private Task AppendAsync(long epoch) => AppendAsync([new PartitionEpoch(_partition, epoch)]);

    private Task AppendAsync(Fence fence)
    {
        var fact = new Billing.Backends.Domain.Payment(_id, 5, "USD").Decide(
            EventStoreFixture.Opened, DateTimeOffset.UnixEpoch);
        var added = NewEvent.Of(_stream, fact.StatedOn(EventStoreFixture.Opened), EventStoreFixture.Opened);
        return Accounts.AppendAsync([added], fence, Stop);
    }

    /// <summary>Waits until another session waits for a session's locks.</summary>
    private async Task IsBlockedByAsync(int processId)
    {
        await using var database = NpgsqlDataSource.Create(store.Postgres.ConnectionString);
        await using var count = database.CreateCommand(
            "select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))");
        count.Parameters.AddWithValue(processId);
        await Poll.UntilAsync(async () => (long)(await count.ExecuteScalarAsync(Stop))! > 0, Stop);
    }
}
