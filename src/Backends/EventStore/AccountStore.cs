using Billing.Backends.Domain;
using Billing.Backends.Writes;
using Billing.Messaging;
using Microsoft.Extensions.Options;
using Npgsql;
using NpgsqlTypes;

namespace Billing.Backends.EventStore;

/// <summary>Reads and appends the accounts' events in Marten's tables on one server.</summary>
internal sealed class AccountStore(
    string name, NpgsqlDataSource primary, bool isOneOfSeveral, IOptions<EventStoreOptions> options)
    : IAccountStore
{
    /// <inheritdoc/>
    public string Name => name;

    /// <summary>The member of a tombstone that names the stream whose command it closes.</summary>
    internal const string TombstoneStreamId = "StreamId";

    // The members that say which command it was, and who sent it; so that those who look into the store need not guess.
    private const string TombstoneTransactionId = "TransactionId";
    private const string TombstoneSender = "By";

    /// <summary>The condition for an event that sets a credit limit, word for word that of its index.</summary>
    internal static string SetsCreditLimit { get; } = $"type = '{EventTypes.CreditLimit}'";

    /// <summary>The payment that an event follows up, word for word as in its index;
    /// null for an event that follows up none.</summary>
    internal const string FollowedUpPayment = $"(data ->> '{nameof(PaymentFollowUp.PaymentId)}')";

    private readonly EventStoreOptions _options = options.Value;
    private readonly string _requireFence = StoredFunction.RequireFence.Call(options.Value.Schema);
    private readonly string _append = StoredFunction.AppendEvents.Call(options.Value.Schema);
    private readonly string _requireVersions = StoredFunction.RequireVersions.Call(options.Value.Schema);

    // An account is its last event, but for the credit limit, which the last event says that has set it: two events are
    // read, however many there are. One statement, and so as of one moment.
    public async Task<Dictionary<string, Account>> LoadAsync(
        string[] streamIds, Account opened, CancellationToken cancellationToken)
    {
        var accounts = new Dictionary<string, Account>(streamIds.Length, StringComparer.Ordinal);
        await using var command = primary.CreateCommand($"""
            select wanted.id, e.version, e.type, e.data, c.type, c.data, e.data ->> '{EventChain.Member}', h.epoch
            from unnest($1, $2) as wanted(id, shard)
            left join {EventStoreSchema.ShardsHere(_options.Schema)} h on h.number = wanted.shard
            left join lateral (
                select version, type, data from {_options.Schema}.mt_events where stream_id = wanted.id
                    order by version desc limit 1) e on true
            left join lateral (
                select type, data from {_options.Schema}.mt_events
                where stream_id = wanted.id and {SetsCreditLimit} order by version desc limit 1) c on true
            """);
        command.Parameters.Add(Texts(streamIds));
        command.Parameters.Add(Values(Array.ConvertAll(streamIds, Shard.Of)));
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            var account = opened;
            if (!rows.IsDBNull(1))
            {
                var last = EventTypes.Read(rows.GetString(2), rows.GetFieldValue<byte[]>(3));
                decimal? limit = rows.IsDBNull(4)
                    ? null
                    : EventTypes.ReadLimit(rows.GetString(4), rows.GetFieldValue<byte[]>(5));
                // Where an administrator has removed the hash, ./billing verify says so.
                account = last.Stated(rows.GetInt64(1), limit, opened) with
                {
                    Head = rows.IsDBNull(6) ? null : rows.GetString(6),
                };
            }
            var incarnation = rows.IsDBNull(7) ? 0 : Shard.IncarnationOf(rows.GetInt64(7));
            accounts[rows.GetString(0)] = account with { Incarnation = incarnation };
        }
        return accounts;
    }

    public async Task<IReadOnlyDictionary<int, long>> HeldShardsAsync(CancellationToken cancellationToken)
    {
        var held = new Dictionary<int, long>(Shard.Count);
        await using var statements = primary.CreateBatch();
        Add(
            statements,
            $"select number, epoch from {EventStoreSchema.ShardsHere(_options.Schema)} "
                + "where is_held and moving_to is null");
        if (isOneOfSeveral)
        {
            // A former primary that does not know it reads on, but none of its commits ends, since its standby is gone.
            // So this commits.
            Add(statements, "select pg_logical_emit_message(true, 'billing', '')");
        }
        await using var rows = await statements.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            held.Add(rows.GetInt32(0), rows.GetInt64(1));
        }
        await EndCommitAsync(rows, cancellationToken);
        return held;
    }

    public async Task<string[]> ListAsync(string after, int limit, CancellationToken cancellationToken)
    {
        await using var command = primary.CreateCommand(
            $"select array(select id from {_options.Schema}.mt_streams where id > $1 and version > 0 "
            + "order by id limit $2)");
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = after, NpgsqlDbType = NpgsqlDbType.Varchar });
        command.Parameters.Add(new NpgsqlParameter<int> { TypedValue = limit });
        return (string[])(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    public Task<Dictionary<CommandId, Wire.V1.Event>> FindReceiptsAsync(
        IReadOnlyCollection<CommandId> commands, Fence fence, CancellationToken cancellationToken) =>
        FindReceiptsAsync(commands, null, fence, cancellationToken);

    public Task<Dictionary<CommandId, Wire.V1.Event>> ConfirmAsync(
        IReadOnlyCollection<CommandId> commands, IReadOnlyDictionary<string, long> versions,
        Fence fence, CancellationToken cancellationToken) =>
        FindReceiptsAsync(commands, versions, fence, cancellationToken);

    // Each statement sees what was committed before it: what is not found after the fence will not be recorded by
    // whom it keeps out.
    private async Task<Dictionary<CommandId, Wire.V1.Event>> FindReceiptsAsync(
        IReadOnlyCollection<CommandId> commands, IReadOnlyDictionary<string, long>? versions,
        Fence fence, CancellationToken cancellationToken)
    {
        var wanted = commands.Distinct().ToDictionary(c => c.EventId);
        var found = new Dictionary<CommandId, Wire.V1.Event>();
        await using var statements = primary.CreateBatch();
        AddFence(statements, commands.Select(c => c.StreamId), fence);
        if (versions is not null)
        {
            Add(statements, _requireVersions, Texts([.. versions.Keys]), Values(versions.Values.ToArray()));
        }
        Add(
            statements,
            $"""
            select id, stream_id, version, type, data, data ->> '{EventChain.Member}'
            from {_options.Schema}.mt_events where id = any($1)
            """,
            Values(wanted.Keys.ToArray()));
        await using var rows = await statements.ExecuteReaderAsync(cancellationToken);
        for (var before = statements.BatchCommands.Count - 1; before > 0; before--)
        {
            await rows.NextResultAsync(cancellationToken);
        }
        while (await rows.ReadAsync(cancellationToken))
        {
            var (id, streamId) = (wanted[rows.GetGuid(0)], rows.GetString(1));
            // With much effort two commands can be made whose event ids are the same. Then the second one counts as
            // closed, too.
            found.Add(id, streamId == id.StreamId
                && EventTypes.Read(rows.GetString(3), rows.GetFieldValue<byte[]>(4)) is var fact
                && fact.TransactionId == id.TransactionId
                ? RecordedEvent.ToWire(streamId, rows.GetInt64(2), fact)
                    .Hashed(rows.IsDBNull(5) ? null : rows.GetString(5))
                : new Wire.V1.Event());
        }
        await EndCommitAsync(rows, cancellationToken);
        return found;
    }

    public async Task<Dictionary<CommandId, PaymentFollowUp>> LastFollowUpsAsync(
        IReadOnlyCollection<CommandId> payments, CancellationToken cancellationToken)
    {
        var last = new Dictionary<CommandId, PaymentFollowUp>(payments.Count);
        await using var statements = primary.CreateBatch();
        // As before the look-up of receipts.
        AddFence(statements, payments.Select(p => p.StreamId), []);
        Add(
            statements,
            $"""
            select wanted.stream_id, e.type, e.data
            from unnest($1, $2) as wanted(stream_id, payment_id)
            cross join lateral (
                select type, data from {_options.Schema}.mt_events
                where stream_id = wanted.stream_id and {FollowedUpPayment} = wanted.payment_id order by version desc
                    limit 1) e
            """,
            Texts([.. payments.Select(p => p.StreamId)]), Texts([.. payments.Select(p => p.TransactionId.ToString())]));
        await using var rows = await statements.ExecuteReaderAsync(cancellationToken);
        await rows.NextResultAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            var fact = (PaymentFollowUp)EventTypes.Read(rows.GetString(1), rows.GetFieldValue<byte[]>(2));
            last.Add(new CommandId(fact.PaymentId, rows.GetString(0)), fact);
        }
        return last;
    }

    public async Task<IReadOnlyList<CommandId>> TakeDueHoldsAsync(
        DateTimeOffset now, int limit, CancellationToken cancellationToken)
    {
        var due = new List<CommandId>();
        await using var command = primary.CreateCommand($"""
            with due as (
                select stream_id, payment_id from {EventStoreSchema.OpenHolds(_options.Schema)}
                where expires_at <= $2 and (taken_at is null or taken_at < now() - $3 or taken_at > now() + $3)
                    and exists (select from {EventStoreSchema.ShardsHere(_options.Schema)}
                        where number = {_options.Schema}.{Shard.Function}(stream_id) and is_held and moving_to is null)
                order by expires_at limit $1 for update skip locked)
            update {EventStoreSchema.OpenHolds(_options.Schema)} h set taken_at = now() from due
            where h.stream_id = due.stream_id and h.payment_id = due.payment_id
            returning h.stream_id, h.payment_id
            """);
        command.Parameters.Add(new NpgsqlParameter<int> { TypedValue = limit });
        command.Parameters.Add(new NpgsqlParameter<DateTime> { TypedValue = now.UtcDateTime });
        command.Parameters.Add(new NpgsqlParameter<TimeSpan> { TypedValue = StoreTimes.HoldTaken });
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            due.Add(new CommandId(rows.GetGuid(1), rows.GetString(0)));
        }
        await EndCommitAsync(rows, cancellationToken);
        return due;
    }

    // A closed id is taken by an event without meaning, of the stream that Marten keeps for such events. The
    // insert waits for transactions that are inserting an event of the same id, so afterwards it is certain which
    // of the two came first.
    public async Task<Dictionary<CommandId, Wire.V1.Event>> CloseAsync(
        IReadOnlyCollection<(CommandId Id, Sender? By)> commands, Fence fence, CancellationToken cancellationToken)
    {
        await using var statements = primary.CreateBatch();
        AddFence(statements, commands.Select(c => c.Id.StreamId), fence);
        Add(
            statements,
            $"""
            insert into {_options.Schema}.mt_events (seq_id, id, stream_id, version, data, type, timestamp)
            select c.seq, c.id, '{EventTypes.TombstoneStream}', -c.seq,
                jsonb_strip_nulls(jsonb_build_object('{TombstoneStreamId}', c.stream_id,
                '{TombstoneTransactionId}', c.transaction_id, '{TombstoneSender}', c.sender)), 'tombstone', now()
            from (select a.*, nextval('{_options.Schema}.mt_events_sequence') as seq
                from unnest($1, $2, $3, $4) as a(id, stream_id, transaction_id, sender) order by id) as c
            on conflict on constraint {EventStoreSchema.OneEventForEachCommand} do nothing
            """,
            Values(commands.Select(c => c.Id.EventId).ToArray()), Texts([.. commands.Select(c => c.Id.StreamId)]),
            Values(commands.Select(c => c.Id.TransactionId).ToArray()),
            Texts([.. commands.Select(c => c.By?.Subject)]));
        await ExecuteAsync(statements, cancellationToken);
        return await FindReceiptsAsync([.. commands.Select(c => c.Id)], fence, cancellationToken);
    }

    // The update waits for appends that hold the present epoch. All lock in the same order, so they cannot deadlock.
    public async Task<Dictionary<SourcePartition, long>> BeginEpochsAsync(
        IReadOnlyCollection<PartitionEpoch> owned, Guid owner, CancellationToken cancellationToken)
    {
        var begun = new Dictionary<SourcePartition, long>(owned.Count);
        await using var command = primary.CreateCommand($"""
            insert into {EventStoreSchema.Epochs(_options.Schema)} as present (topic, number, epoch, owner)
            select topic, number, epoch + 1, $4 from unnest($1, $2, $3) as owned(topic, number, epoch)
                order by topic, number
            on conflict (topic, number) do update set epoch = present.epoch + 1, owner = excluded.owner
            where excluded.epoch in (1, present.epoch + 1) or excluded.owner = present.owner
            returning topic, number, epoch
            """);
        command.Parameters.AddRange(Columns(owned));
        command.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = owner });
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            begun.Add(new SourcePartition(rows.GetString(0), rows.GetInt32(1)), rows.GetInt64(2));
        }
        await EndCommitAsync(rows, cancellationToken);
        return begun;
    }

    // The statements of a batch travel together and are one transaction, which nothing but the last of them commits:
    // one round trip.
    public async Task AppendAsync(IReadOnlyList<NewEvent> batch, Fence fence, CancellationToken cancellationToken)
    {
        await using var statements = primary.CreateBatch();
        AddFence(statements, batch.Select(e => e.Recorded.StreamId), fence);
        AddEvents(statements, batch);
        AddOpenHolds(statements, batch);
        await ExecuteAsync(statements, cancellationToken);
    }

    private static async Task ExecuteAsync(NpgsqlBatch statements, CancellationToken cancellationToken)
    {
        await using var rows = await statements.ExecuteReaderAsync(cancellationToken);
        await EndCommitAsync(rows, cancellationToken);
    }

    // The commit follows the rows, and whoever only closes them is not told that it failed. A commit whose wait
    // for the standby is cancelled is committed on one disk only, and the server may report success before the
    // session is ended.
    private static async Task EndCommitAsync(NpgsqlDataReader rows, CancellationToken cancellationToken)
    {
        while (await rows.NextResultAsync(cancellationToken))
        {
        }
        cancellationToken.ThrowIfCancellationRequested();
    }

    private void AddFence(NpgsqlBatch statements, IEnumerable<string> streamIds, Fence fence)
    {
        var shards = Shard.Of(streamIds);
        Add(
            statements, _requireFence,
            [Values(shards), Values(Array.ConvertAll(shards, fence.EpochOf)), .. Columns(fence.Partitions)]);
    }

    private void AddEvents(NpgsqlBatch statements, IReadOnlyList<NewEvent> batch)
    {
        var streams = new Dictionary<string, (long Before, long After)>(batch.Count, StringComparer.Ordinal);
        var (ids, streamIds, versions) = (new Guid[batch.Count], new string[batch.Count], new long[batch.Count]);
        var (types, dotnetTypes, bodies) =
            (new string[batch.Count], new string[batch.Count], new ReadOnlyMemory<byte>[batch.Count]);
        for (var i = 0; i < batch.Count; i++)
        {
            var (streamId, version) = (batch[i].Recorded.StreamId, batch[i].After.Version);
            ids[i] = batch[i].Id.EventId;
            streamIds[i] = streamId;
            versions[i] = version;
            var body = batch[i].Body;
            (types[i], dotnetTypes[i], bodies[i]) = (body.Type, body.DotnetType, body.Json);
            streams[streamId] = (streams.TryGetValue(streamId, out var known) ? known.Before : version - 1, version);
        }
        Add(
            statements, _append,
            Texts([.. streams.Keys]), Values(streams.Values.Select(s => s.Before).ToArray()),
            Values(streams.Values.Select(s => s.After).ToArray()), Values(ids), Texts(streamIds), Values(versions),
            Texts(types), Texts(dotnetTypes),
            new NpgsqlParameter<ReadOnlyMemory<byte>[]>
            {
                TypedValue = bodies,
                NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Text,
            });
    }

    // A hold that has ended never opens again, so the order of the two does not matter.
    private void AddOpenHolds(NpgsqlBatch statements, IReadOnlyList<NewEvent> batch)
    {
        var opened = batch.Where(e => e.Fact.HoldUntil is not null).ToList();
        if (opened.Count > 0)
        {
            Add(
                statements,
                $"insert into {EventStoreSchema.OpenHolds(_options.Schema)} (stream_id, payment_id, "
                    + "expires_at) select * from unnest($1, $2, $3)",
                Texts([.. opened.Select(e => e.Recorded.StreamId)]),
                Values(opened.Select(e => e.Fact.TransactionId).ToArray()),
                Values(opened.Select(e => e.Fact.HoldUntil!.Value.UtcDateTime).ToArray()));
        }
        var ended = batch.Where(e => e.Fact.EndsHoldOf is not null).ToList();
        if (ended.Count > 0)
        {
            Add(
                statements,
                $"""
                delete from {EventStoreSchema.OpenHolds(_options.Schema)} h using unnest($1, $2) as c(stream, payment)
                where h.stream_id = c.stream and h.payment_id = c.payment
                """,
                Texts([.. ended.Select(e => e.Recorded.StreamId)]),
                Values(ended.Select(e => e.Fact.EndsHoldOf!.Value).ToArray()));
        }
    }

    private static void Add(NpgsqlBatch statements, string text, params ReadOnlySpan<NpgsqlParameter> parameters)
    {
        var statement = new NpgsqlBatchCommand(text);
        foreach (var parameter in parameters)
        {
            statement.Parameters.Add(parameter);
        }
        statements.BatchCommands.Add(statement);
    }

    private static NpgsqlParameter[] Columns(IReadOnlyCollection<PartitionEpoch> owned) =>
    [
        Texts([.. owned.Select(o => o.Partition.Topic)]),
        Values(owned.Select(o => o.Partition.Number).ToArray()),
        Values(owned.Select(o => o.Epoch).ToArray()),
    ];

    private static NpgsqlParameter<T[]> Values<T>(T[] values) => new() { TypedValue = values };

    private static NpgsqlParameter<string?[]> Texts(string?[] values) =>
        new() { TypedValue = values, NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Varchar };
}
