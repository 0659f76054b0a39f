using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Messaging;
using Npgsql;

namespace Billing.Simulation.Store;

/// <summary>A model of a database of the event store, and the ways in which PostgreSQL may fail. A request continues in the store even if the
/// process that sent it has crashed. What belongs to shards of other databases is not there.</summary>
internal sealed class StoreServer(Scheduler scheduler, Dice dice, StoreHistory history, IEnumerable<int> shards)
{
    // As in the settings of the sessions.
    private static readonly TimeSpan LockTimeout = TimeSpan.FromSeconds(5);

    private readonly Dictionary<int, long> _shards = shards.ToDictionary(shard => shard, _ => 1L);
    private readonly Dictionary<SourcePartition, long> _epochs = [];
    private readonly List<StoreRequest> _stalled = [];
    private readonly Dictionary<CommandId, DateTimeOffset> _taken = [];

    public long AwayUntil { get; set; }

    public long ReadOnlyUntil { get; set; }

    /// <summary>Until when half of the writes break their connection, before or after the commit.</summary>
    public long UnsureUntil { get; set; }

    /// <summary>Until when every request takes up to two seconds.</summary>
    public long SlowUntil { get; set; }

    /// <summary>Whether the server answers, and no transaction is under way.</summary>
    public bool CanChangeShards => AwayUntil <= scheduler.Now && ReadOnlyUntil <= scheduler.Now && _stalled.Count == 0;

    public bool Holds(int shard) => _shards.ContainsKey(shard);

    /// <summary>Gives a shard away.</summary>
    /// <returns>How often it has changed its database.</returns>
    public long Release(int shard)
    {
        _shards.Remove(shard, out var epoch);
        return epoch;
    }

    public void Take(int shard, long epoch) => _shards[shard] = epoch;

    public IReadOnlyDictionary<int, long> Held() => new Dictionary<int, long>(_shards);

    /// <summary>Until when half of the commits stall: their connections break, and much later they take effect, or are rolled back.
    /// </summary>
    public long StallUntil { get; set; }

    /// <summary>An account under whose events the disk is damaged, and until when.</summary>
    public (string StreamId, long Until) Damaged { get; set; } = ("", 0);

    /// <summary>Until when the disk is damaged under a part of the receipts.</summary>
    public long ReceiptsDamagedUntil { get; set; }

    /// <summary>Executes a request of a process, with a random latency in each direction.</summary>
    public Task<T> AskAsync<T>(Node node, StoreRequest request, Func<T> work)
    {
        var answer = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        void Answer(T? result, Exception? failure) => scheduler.After(Delay(), node, () =>
        {
            // A request may have come through before the cut, and its answer not.
            if (failure is null && !node.ToStore.IsCut)
            {
                answer.SetResult(result!);
            }
            else
            {
                answer.SetException(failure ?? Broken());
            }
        });
        if (node.ToStore.IsCut)
        {
            Answer(default, Broken());
        }
        else
        {
            scheduler.After(Delay(), null, () => Take(request, work, Answer, scheduler.Now + LockTimeout.Ticks));
        }
        return answer.Task;
    }

    // Waits for the transactions that hold what the request needs.
    private void Take<T>(StoreRequest request, Func<T> work, Action<T?, Exception?> answer, long patience)
    {
        if (_stalled.Find(request.WaitsFor) is { } holder)
        {
            if (holder.EndsAt > patience)
            {
                scheduler.At(patience, new Due(null, () => answer(default, new PostgresException("locked", "ERROR", "ERROR", PostgresErrorCodes.LockNotAvailable))));
                return;
            }
            scheduler.At(holder.EndsAt, new Due(null, () => Take(request, work, answer, patience)));
            return;
        }
        if (request.Writes && StallUntil > scheduler.Now && AwayUntil <= scheduler.Now && dice.Chance(0.5))
        {
            answer(default, Broken());
            Stall(request, work);
            return;
        }
        try
        {
            answer(Do(request, work), null);
        }
        catch (NpgsqlException e)
        {
            answer(default, e);
        }
    }

    private void Stall<T>(StoreRequest request, Func<T> work)
    {
        var stalled = request with { EndsAt = scheduler.Now + dice.UpTo(8000).Ticks };
        _stalled.Add(stalled);
        scheduler.At(stalled.EndsAt, new Due(null, () =>
        {
            _stalled.Remove(stalled);
            try
            {
                if (dice.Chance(0.5))
                {
                    Do(request, work);
                }
            }
            catch (NpgsqlException)
            {
                // It is rolled back, and nobody is there to be told.
            }
        }));
    }

    /// <summary>Closes commands that have no receipt.</summary>
    public Dictionary<CommandId, Wire.V1.Event> Close(IReadOnlyCollection<CommandId> commands, Fence fence)
    {
        Require(commands.Select(id => id.StreamId), fence);
        foreach (var id in commands)
        {
            history.Receipts.TryAdd(id, new Wire.V1.Event());
        }
        return Find(commands, fence);
    }

    /// <summary>Finds the receipts of commands whose accounts have certain versions.</summary>
    public Dictionary<CommandId, Wire.V1.Event> Confirm(IReadOnlyCollection<CommandId> commands, IReadOnlyDictionary<string, long> versions, Fence fence)
    {
        var found = Find(commands, fence);
        return versions.Any(known => history.Stream(known.Key).Count != known.Value)
            ? throw new PostgresException("the stream has moved on", "ERROR", "ERROR", StoredFunction.StreamMoved)
            : found;
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
    public bool Append(IReadOnlyList<NewEvent> batch, Fence fence)
    {
        Require(batch.Select(e => e.Recorded.StreamId), fence);
        foreach (var stream in batch.GroupBy(e => e.Recorded.StreamId, StringComparer.Ordinal))
        {
            if (history.Stream(stream.Key).Count != stream.First().After.Version - 1)
            {
                throw new PostgresException("the stream has moved on", "ERROR", "ERROR", StoredFunction.StreamMoved);
            }
        }
        if (batch.Any(e => e.Id is { } id && history.Receipts.ContainsKey(id)) || batch.GroupBy(e => e.Id).Any(g => g.Key is not null && g.Count() > 1))
        {
            throw new PostgresException(
                "duplicate key", "ERROR", "ERROR", PostgresErrorCodes.UniqueViolation, tableName: "mt_events",
                constraintName: EventStoreSchema.OneEventForEachCommand);
        }
        foreach (var added in batch)
        {
            history.Add(added);
        }
        return true;
    }

    public IReadOnlyList<Stored> Stream(string streamId) => Holds(Shard.Of(streamId)) ? history.Stream(streamId) : [];

    public Dictionary<string, Account> Load(string[] streamIds, Account opened) => streamIds.ToDictionary(
        id => id, id => Stream(id).Aggregate(opened, (account, stored) => account.Apply(stored.Fact) with { Head = stored.Hash }), StringComparer.Ordinal);

    public Dictionary<CommandId, Wire.V1.Event> Find(IReadOnlyCollection<CommandId> commands, Fence fence)
    {
        Require(commands.Select(id => id.StreamId), fence);
        return commands.Distinct().Where(history.Receipts.ContainsKey).ToDictionary(id => id, id => history.Receipts[id].Clone());
    }

    public Dictionary<CommandId, PaymentFollowUp> LastFollowUps(IReadOnlyCollection<CommandId> payments)
    {
        Require(payments.Select(id => id.StreamId), []);
        return payments.Select(id => (Id: id, Last: history.Stream(id.StreamId).Select(stored => stored.Fact)
                .OfType<PaymentFollowUp>().LastOrDefault(fact => fact.PaymentId == id.TransactionId)))
            .Where(found => found.Last is not null).ToDictionary(found => found.Id, found => found.Last!);
    }

    /// <summary>What is on hold and due, none of it twice within ten seconds.</summary>
    public IReadOnlyList<DueHold> TakeDueHolds(DateTimeOffset asOf, int limit)
    {
        var now = Node.TimeOf(scheduler.Now);
        var due = history.OpenHolds.Where(hold => Holds(Shard.Of(hold.Key.StreamId)) && hold.Value <= asOf && _taken.GetValueOrDefault(hold.Key) <= now)
            .Take(limit).Select(hold => new DueHold(hold.Key, asOf)).ToList();
        due.ForEach(hold => _taken[hold.Id] = now.AddSeconds(10));
        return due;
    }

    public string[] List(string after, int limit) =>
        [.. history.Streams.Where(id => Holds(Shard.Of(id)) && string.CompareOrdinal(id, after) > 0).Order(StringComparer.Ordinal).Take(limit)];

    private void Require(IEnumerable<string> streamIds, Fence fence)
    {
        var elsewhere = Shard.Of(streamIds)
            .Where(shard => !_shards.TryGetValue(shard, out var epoch) || (fence.EpochOf(shard) is not 0 and var wanted && wanted != epoch)).ToList();
        if (elsewhere.Count > 0)
        {
            throw new PostgresException("elsewhere: " + string.Join(',', elsewhere), "ERROR", "ERROR", StoredFunction.ShardElsewhere);
        }
        if (fence.Any(o => o.Epoch != _epochs.GetValueOrDefault(o.Partition)))
        {
            throw new PostgresException("a later owner", "ERROR", "ERROR", StoredFunction.EpochEnded);
        }
    }

    private T Do<T>(StoreRequest request, Func<T> work)
    {
        var (now, writes) = (scheduler.Now, request.Writes);
        if (AwayUntil > now)
        {
            throw Broken();
        }
        if (writes && ReadOnlyUntil > now)
        {
            throw new PostgresException("read only", "ERROR", "ERROR", PostgresErrorCodes.ReadOnlySqlTransaction);
        }
        if ((Damaged.Until > now && request.Streams.Contains(Damaged.StreamId))
            || (ReceiptsDamagedUntil > now && request.Receipts.Any(id => id.TransactionId.ToByteArray()[0] % 3 == 0)))
        {
            throw new PostgresException("invalid page", "ERROR", "ERROR", PostgresErrorCodes.DataCorrupted);
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
}
