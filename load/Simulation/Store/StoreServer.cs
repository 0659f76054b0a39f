using System.Text;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Messaging;
using JasperFx;
using Npgsql;

namespace Billing.Simulation.Store;

/// <summary>One event in the model of the event store.</summary>
internal sealed record Stored(long Sequence, string StreamId, long Version, AccountEvent Fact, Wire.V1.Event Recorded);

/// <summary>A model of the event store: streams, receipts, and the ways in which PostgreSQL may fail. A request continues in the
/// store even if the process that sent it has crashed.</summary>
internal sealed class StoreServer(Scheduler scheduler, Dice dice)
{
    private readonly Dictionary<string, List<Stored>> _streams = new(StringComparer.Ordinal);
    private readonly Dictionary<Guid, Wire.V1.Event> _receipts = [];
    private readonly Dictionary<SourcePartition, long> _epochs = [];

    /// <summary>Called with every appended event, for a trace.</summary>
    public Action<Stored>? Appended { get; set; }

    /// <summary>All events, in the order of their sequence numbers.</summary>
    public List<Stored> Events { get; } = [];

    public long AwayUntil { get; set; }

    public long ReadOnlyUntil { get; set; }

    /// <summary>Until when half of the writes break their connection, before or after the commit.</summary>
    public long UnsureUntil { get; set; }

    /// <summary>Until when every request takes up to two seconds.</summary>
    public long SlowUntil { get; set; }

    public IReadOnlyList<Stored> Stream(string streamId) => _streams.TryGetValue(streamId, out var stream) ? stream : [];

    /// <summary>Executes a request of a process, with a random latency in each direction.</summary>
    public Task<T> AskAsync<T>(Node node, bool writes, Func<T> work)
    {
        var answer = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        scheduler.After(Delay(), null, () =>
        {
            Exception? failure = null;
            T? result = default;
            try
            {
                result = Do(writes, work);
            }
            catch (Exception e) when (e is NpgsqlException or ConcurrencyException)
            {
                failure = e;
            }
            scheduler.After(Delay(), node, () =>
            {
                if (failure is null)
                {
                    answer.SetResult(result!);
                }
                else
                {
                    answer.SetException(failure);
                }
            });
        });
        return answer.Task;
    }

    /// <summary>Closes transaction ids that have no receipt.</summary>
    public Dictionary<Guid, Wire.V1.Event> Close(Guid[] transactionIds)
    {
        foreach (var id in transactionIds)
        {
            _receipts.TryAdd(id, new Wire.V1.Event());
        }
        return Find(transactionIds);
    }

    public Dictionary<SourcePartition, long> Begin(IReadOnlyCollection<PartitionEpoch> owned)
    {
        var begun = owned.Where(o => o.Epoch == 0 || o.Epoch == _epochs.GetValueOrDefault(o.Partition)).Select(o => o.Partition)
            .ToDictionary(p => p, p => _epochs.GetValueOrDefault(p) + 1);
        foreach (var (partition, epoch) in begun)
        {
            _epochs[partition] = epoch;
        }
        return begun;
    }

    /// <summary>Appends a batch as one transaction.</summary>
    public bool Append(IReadOnlyList<NewEvent> batch, IReadOnlyCollection<PartitionEpoch> owned)
    {
        if (owned.Any(o => o.Epoch != _epochs.GetValueOrDefault(o.Partition)))
        {
            throw new PostgresException("a later owner", "ERROR", "ERROR", StoredFunction.EpochEnded);
        }
        foreach (var stream in batch.GroupBy(e => e.Recorded.StreamId, StringComparer.Ordinal))
        {
            if (Stream(stream.Key).Count != stream.First().After.Version - 1)
            {
                throw new ConcurrencyException("The stream has moved on.", typeof(Account), stream.Key);
            }
        }
        if (batch.Any(e => Id(e) is { } id && _receipts.ContainsKey(id)) || batch.GroupBy(Id).Any(g => g.Key is not null && g.Count() > 1))
        {
            throw new PostgresException(
                "duplicate key", "ERROR", "ERROR", PostgresErrorCodes.UniqueViolation, tableName: EventStoreSchema.ReceiptsTable);
        }
        foreach (var added in batch)
        {
            if (!_streams.TryGetValue(added.Recorded.StreamId, out var stream))
            {
                _streams[added.Recorded.StreamId] = stream = [];
            }
            // The version is the store's own count, whatever version the batch states.
            var stored = new Stored(Events.Count + 1, added.Recorded.StreamId, stream.Count + 1, added.Fact, added.Recorded.Clone());
            stream.Add(stored);
            Events.Add(stored);
            Appended?.Invoke(stored);
            if (Id(added) is { } id)
            {
                _receipts[id] = stored.Recorded;
            }
        }
        return true;
    }

    public Dictionary<string, Account> Load(string[] streamIds, Account opened) => streamIds.ToDictionary(
        id => id, id => Stream(id).Aggregate(opened, (account, stored) => account.Apply(stored.Fact)), StringComparer.Ordinal);

    public Dictionary<Guid, Wire.V1.Event> Find(Guid[] transactionIds) => transactionIds.Distinct()
        .Where(_receipts.ContainsKey).ToDictionary(id => id, id => _receipts[id].Clone());

    public List<Stored> Page(long after, int limit) => [.. Events.Where(e => e.Sequence > after).Take(limit)];

    private T Do<T>(bool writes, Func<T> work)
    {
        var now = scheduler.Now;
        if (AwayUntil > now)
        {
            throw Broken();
        }
        if (writes && ReadOnlyUntil > now)
        {
            throw new PostgresException("read only", "ERROR", "ERROR", PostgresErrorCodes.ReadOnlySqlTransaction);
        }
        var breaks = writes && UnsureUntil > now && dice.Chance(0.5);
        if (breaks && dice.Chance(0.5))
        {
            throw Broken();
        }
        var result = work();
        return breaks ? throw Broken() : result;
    }

    private TimeSpan Delay() => dice.UpTo(SlowUntil > scheduler.Now ? 1000 : 2);

    private static NpgsqlException Broken() => new("The connection broke.", new IOException());

    private static Guid? Id(NewEvent added) => added.Recorded.TransactionId.Length > 0 ? Guid.Parse(added.Recorded.TransactionId) : null;
}

/// <summary>The event store as one process sees it.</summary>
internal sealed class StoreClient(Node node, StoreServer server) : IAccountStore, IEventScan
{
    public Task<Dictionary<string, Account>> LoadAsync(string[] streamIds, Account opened, CancellationToken cancellationToken) =>
        server.AskAsync(node, false, () => server.Load(streamIds, opened));

    public Task<Dictionary<Guid, Wire.V1.Event>> FindReceiptsAsync(Guid[] transactionIds, CancellationToken cancellationToken) =>
        server.AskAsync(node, false, () => server.Find(transactionIds));

    public Task<Dictionary<Guid, Wire.V1.Event>> CloseAsync(Guid[] transactionIds, CancellationToken cancellationToken) =>
        server.AskAsync(node, true, () => server.Close(transactionIds));

    public Task<Dictionary<SourcePartition, long>> BeginEpochsAsync(
        IReadOnlyCollection<PartitionEpoch> owned, CancellationToken cancellationToken) =>
        server.AskAsync(node, true, () => server.Begin(owned));

    public Task AppendAsync(
        IReadOnlyList<NewEvent> batch, IReadOnlyCollection<PartitionEpoch> owned, CancellationToken cancellationToken) =>
        server.AskAsync(node, true, () => server.Append(batch, owned));

    public Task<long> LastAsync(CancellationToken cancellationToken) => server.AskAsync(node, false, () => (long)server.Events.Count);

    public async Task<(int Count, long Last)> ReadPageAsync(
        long after, int limit, Action<StoredEvent> take, CancellationToken cancellationToken)
    {
        var page = await server.AskAsync(node, false, () => server.Page(after, limit));
        foreach (var stored in page)
        {
            var (type, _, json) = EventTypes.Write(stored.Fact);
            take(new StoredEvent(stored.StreamId, stored.Version, type, Encoding.UTF8.GetBytes(json)));
        }
        return (page.Count, page.Count == 0 ? after : page[^1].Sequence);
    }
}
