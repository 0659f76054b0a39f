using Billing.Backends.Domain;
using Billing.Messaging;
using Google.Protobuf;
using Marten;
using Microsoft.Extensions.Options;
using Npgsql;
using NpgsqlTypes;

namespace Billing.Backends.EventStore;

/// <summary>Reads and appends the accounts' events in Marten's tables, with their receipts and snapshots.</summary>
internal sealed class AccountStore(
    Lazy<IDocumentStore> store, NpgsqlDataSource database, IOptions<EventStoreOptions> options, TimeProvider time) : IAccountStore
{
    private const NpgsqlDbType TextArray = NpgsqlDbType.Array | NpgsqlDbType.Varchar;
    private const NpgsqlDbType UuidArray = NpgsqlDbType.Array | NpgsqlDbType.Uuid;

    private readonly EventStoreOptions _options = options.Value;
    private readonly string _hold = StoredFunction.HoldEpochs.Call(options.Value.Schema);
    private readonly string _append = StoredFunction.AppendEvents.Call(options.Value.Schema);

    // Reads the last snapshots and the events after them in one statement, and so as of one moment.
    public async Task<Dictionary<string, Account>> LoadAsync(
        string[] streamIds, Account opened, CancellationToken cancellationToken)
    {
        var accounts = streamIds.ToDictionary(id => id, _ => opened, StringComparer.Ordinal);
        await using var command = database.CreateCommand($"""
            with wanted as (select unnest($1) as id),
                 known as (select s.* from wanted join {EventStoreSchema.Snapshots(_options.Schema)} s on s.stream_id = wanted.id)
            select stream_id, version, balance, credit_limit, currency, null as type, null as data from known
            union all
            select e.stream_id, e.version, null, null, null, e.type, e.data
            from wanted join {_options.Schema}.mt_events e on e.stream_id = wanted.id
            left join known on known.stream_id = e.stream_id
            where e.version > coalesce(known.version, 0)
            order by stream_id, version
            """);
        command.Parameters.Add(new NpgsqlParameter { Value = streamIds, NpgsqlDbType = TextArray });
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            var id = rows.GetString(0);
            accounts[id] = await rows.IsDBNullAsync(5, cancellationToken)
                ? new Account(rows.GetInt64(1), rows.GetDecimal(2), rows.GetDecimal(3), rows.IsDBNull(4) ? null : rows.GetString(4))
                : accounts[id].Apply(EventTypes.Read(rows.GetString(5), rows.GetFieldValue<byte[]>(6)));
        }
        return accounts;
    }

    public async Task<Dictionary<Guid, Wire.V1.Event>> FindReceiptsAsync(
        Guid[] transactionIds, CancellationToken cancellationToken)
    {
        var found = new Dictionary<Guid, Wire.V1.Event>();
        await using var command = database.CreateCommand(
            $"select transaction_id, event from {EventStoreSchema.Receipts(_options.Schema)} where transaction_id = any($1)");
        command.Parameters.Add(new NpgsqlParameter { Value = transactionIds, NpgsqlDbType = UuidArray });
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            found.Add(rows.GetGuid(0), Wire.V1.Event.Parser.ParseFrom(rows.GetFieldValue<byte[]>(1)));
        }
        return found;
    }

    // A closed id has a receipt with an empty event. The insert waits for transactions that are inserting a receipt of the
    // same id, so afterwards it is certain which of the two came first.
    public async Task<Dictionary<Guid, Wire.V1.Event>> CloseAsync(Guid[] transactionIds, CancellationToken cancellationToken)
    {
        await using var command = database.CreateCommand($"""
            insert into {EventStoreSchema.Receipts(_options.Schema)} (transaction_id, event)
            select id, '' from unnest($1) as id order by id
            on conflict do nothing
            """);
        command.Parameters.Add(new NpgsqlParameter { Value = transactionIds, NpgsqlDbType = UuidArray });
        await command.ExecuteNonQueryAsync(cancellationToken);
        return await FindReceiptsAsync(transactionIds, cancellationToken);
    }

    // The update waits for appends that hold the present epoch. All lock in the same order, so they cannot deadlock.
    public async Task<Dictionary<SourcePartition, long>> BeginEpochsAsync(
        IReadOnlyCollection<PartitionEpoch> owned, CancellationToken cancellationToken)
    {
        var begun = new Dictionary<SourcePartition, long>(owned.Count);
        await using var command = database.CreateCommand($"""
            insert into {EventStoreSchema.Epochs(_options.Schema)} as present (topic, number, epoch)
            select topic, number, epoch + 1 from unnest($1, $2, $3) as owned(topic, number, epoch) order by topic, number
            on conflict (topic, number) do update set epoch = present.epoch + 1
            where excluded.epoch in (1, present.epoch + 1)
            returning topic, number, epoch
            """);
        var (topics, numbers, epochs) = Columns(owned);
        command.Parameters.Add(new NpgsqlParameter { Value = topics, NpgsqlDbType = TextArray });
        command.Parameters.Add(new NpgsqlParameter<int[]> { TypedValue = numbers });
        command.Parameters.Add(new NpgsqlParameter<long[]> { TypedValue = epochs });
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            begun.Add(new SourcePartition(rows.GetString(0), rows.GetInt32(1)), rows.GetInt64(2));
        }
        return begun;
    }

    public async Task AppendAsync(
        IReadOnlyList<NewEvent> batch, IReadOnlyCollection<PartitionEpoch> owned, CancellationToken cancellationToken)
    {
        await using var session = store.Value.LightweightSession();
        if (owned.Count > 0)
        {
            var (topics, numbers, epochs) = Columns(owned);
            session.QueueSqlCommand(_hold, topics, numbers, epochs);
        }
        // Receipts first: a collision takes no sequence numbers.
        QueueReceipts(session, batch);
        QueueEvents(session, batch);
        QueueSnapshots(session, batch);
        await session.SaveChangesAsync(cancellationToken);
    }

    private static (string[] Topics, int[] Numbers, long[] Epochs) Columns(IReadOnlyCollection<PartitionEpoch> owned) => (
        [.. owned.Select(o => o.Partition.Topic)], [.. owned.Select(o => o.Partition.Number)], [.. owned.Select(o => o.Epoch)]);

    private void QueueEvents(IDocumentSession session, IReadOnlyList<NewEvent> batch)
    {
        var streams = new Dictionary<string, (long Before, long After)>(batch.Count, StringComparer.Ordinal);
        var (ids, streamIds, versions) = (new Guid[batch.Count], new string[batch.Count], new long[batch.Count]);
        var (types, dotnetTypes, bodies) = (new string[batch.Count], new string[batch.Count], new string[batch.Count]);
        for (var i = 0; i < batch.Count; i++)
        {
            var (streamId, version) = (batch[i].Recorded.StreamId, batch[i].After.Version);
            ids[i] = Guid.CreateVersion7(time.GetUtcNow());
            streamIds[i] = streamId;
            versions[i] = version;
            (types[i], dotnetTypes[i], bodies[i]) = EventTypes.Write(batch[i].Fact);
            streams[streamId] = (streams.TryGetValue(streamId, out var known) ? known.Before : version - 1, version);
        }
        session.QueueSqlCommand(
            _append,
            streams.Keys.ToArray(), streams.Values.Select(s => s.Before).ToArray(), streams.Values.Select(s => s.After).ToArray(),
            ids, streamIds, versions, types, dotnetTypes, bodies);
    }

    private void QueueReceipts(IDocumentSession session, IReadOnlyList<NewEvent> batch)
    {
        var payments = batch.Where(e => e.Recorded.TransactionId.Length > 0).ToList();
        if (payments.Count > 0)
        {
            session.QueueSqlCommand(
                $"insert into {EventStoreSchema.Receipts(_options.Schema)} (transaction_id, event) select * from unnest(?, ?)",
                payments.Select(e => Guid.Parse(e.Recorded.TransactionId)).ToArray(),
                payments.Select(e => e.Recorded.ToByteArray()).ToArray());
        }
    }

    private void QueueSnapshots(IDocumentSession session, IReadOnlyList<NewEvent> batch)
    {
        var due = batch.Where(e => e.After.Version % _options.SnapshotEvery == 0).ToList();
        if (due.Count == 0)
        {
            return;
        }
        // One batch may hold two due versions of one account, and an upsert may touch a row only once: the last one wins.
        var last = due.GroupBy(e => e.Recorded.StreamId, StringComparer.Ordinal).Select(g => g.Last()).ToList();
        session.QueueSqlCommand(
            $"""
            insert into {EventStoreSchema.Snapshots(_options.Schema)} (stream_id, version, balance, credit_limit, currency)
            select * from unnest(?, ?, ?, ?, ?)
            on conflict (stream_id) do update set version = excluded.version, balance = excluded.balance,
                credit_limit = excluded.credit_limit, currency = excluded.currency
            """,
            last.Select(e => e.Recorded.StreamId).ToArray(),
            last.Select(e => e.After.Version).ToArray(),
            last.Select(e => e.After.Balance).ToArray(),
            last.Select(e => e.After.CreditLimit).ToArray(),
            last.Select(e => e.After.Currency).ToArray());
    }
}
