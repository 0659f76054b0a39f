using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Messaging;
using Npgsql;

namespace Billing.Simulation.Store;

/// <summary>What <see cref="AccountStore"/> says to a database, each as one transaction.</summary>
/// <param name="tables">The tables of the database.</param>
/// <param name="history">The books.</param>
internal sealed class Statements(Tables tables, StoreHistory history)
{

    /// <summary>The shards that the database holds.</summary>
    public IReadOnlyDictionary<int, long> Held() =>
        tables.Shards.Where(shard => Holds(shard.Key)).ToDictionary(shard => shard.Key, shard => shard.Value.Epoch);

    private bool Holds(int shard) => tables.Shards.GetValueOrDefault(shard) is { IsHeld: true, MovingTo: null };

    /// <summary>Closes commands that have no receipt.</summary>
    public Dictionary<CommandId, Wire.V1.Event> Close(IReadOnlyCollection<CommandId> commands, Fence fence, long now)
    {
        Hold(commands.Select(id => id.StreamId), fence);
        var rows = new List<EventRow>();
        foreach (var id in commands)
        {
            // The number is taken whether or not there is an event already.
            var sequence = tables.NextSequence();
            var row = new EventRow(sequence, id, EventTypes.TombstoneStream, TombstoneVersion(sequence), null);
            if (tables.Violation(row.Id, row.StreamId, row.Version) is not { } violation)
            {
                rows.Add(row);
            }
            else if (violation != EventStoreSchema.OneEventForEachCommand)
            {
                throw Tables.Duplicate(violation);
            }
        }
        foreach (var row in rows)
        {
            tables.Insert(row);
            history.Close(row.Id, now);
        }
        return Find(commands, fence);
    }

    /// <summary>Finds the receipts of commands whose accounts have certain versions.</summary>
    public Dictionary<CommandId, Wire.V1.Event> Confirm(
        IReadOnlyCollection<CommandId> commands, IReadOnlyDictionary<string, long> versions, Fence fence)
    {
        var found = Find(commands, fence);
        return versions.All(known => tables.Streams.GetValueOrDefault(known.Key) == known.Value)
            ? found
            : throw Moved();
    }

    /// <summary>Begins a new incarnation, as <c>./billing restored</c> does.</summary>
    /// <param name="time">The time of the database.</param>
    /// <param name="open">The shards that some database holds and that are not being moved.</param>
    public void BeginIncarnation(DateTimeOffset time, IReadOnlySet<int> open)
    {
        var begun = time.ToUnixTimeSeconds();
        foreach (var (shard, row) in tables.Shards.Where(shard => shard.Value.IsHeld
            && (shard.Value.MovingTo is null || !open.Contains(shard.Key))).ToList())
        {
            tables.Shards[shard] = row with { Epoch = Math.Max(row.Epoch + 1, begun) };
        }
        foreach (var (partition, row) in tables.Epochs.ToList())
        {
            tables.Epochs[partition] = (Math.Max(row.Epoch + 1, begun), null);
        }
    }

    /// <summary>The version of a tombstone in its stream.</summary>
    public static long TombstoneVersion(long sequence) => -sequence;

    public Dictionary<SourcePartition, long> Begin(IReadOnlyCollection<PartitionEpoch> owned, Guid owner)
    {
        var begun = new Dictionary<SourcePartition, long>();
        foreach (var (partition, epoch) in owned)
        {
            var present = tables.Epochs.GetValueOrDefault(partition);
            if (epoch == 0 || epoch == present.Epoch || owner == present.Owner)
            {
                begun[partition] = present.Epoch + 1;
                tables.Epochs[partition] = (present.Epoch + 1, owner);
            }
        }
        return begun;
    }

    /// <summary>Appends a batch.</summary>
    public bool Append(
        IReadOnlyList<NewEvent> batch, Fence fence, long now, IReadOnlyDictionary<string, decimal> openingLimits)
    {
        Hold(batch.Select(e => e.Recorded.StreamId), fence);
        foreach (var stream in batch.GroupBy(e => e.Recorded.StreamId, StringComparer.Ordinal))
        {
            var (before, known) = (stream.First().After.Version - 1, tables.Streams.GetValueOrDefault(stream.Key));
            if (before == 0 && known > 0)
            {
                throw Tables.Duplicate("pkey_mt_streams_id", "mt_streams");
            }
            if (before != known)
            {
                throw Moved();
            }
        }
        var violations = batch.Select(e => tables.Violation(e.Id, e.Recorded.StreamId, e.After.Version));
        if (violations.FirstOrDefault(v => v is not null) is { } violation)
        {
            throw Tables.Duplicate(violation);
        }
        if (batch.Select(e => e.Id).Distinct().Count() != batch.Count)
        {
            throw Tables.Duplicate(EventStoreSchema.OneEventForEachCommand);
        }
        if (batch.Any(e => e.Fact is PaymentAuthorised && tables.OpenHolds.ContainsKey(e.Id)))
        {
            throw Tables.Duplicate("open_holds_pkey", EventStoreSchema.OpenHoldsTable);
        }
        if (batch.FirstOrDefault(
            e => (e.Fact.Incarnation ?? 0) != IncarnationOf(e.Recorded.StreamId)) is { Fact: not null } strange)
        {
            throw new SimulationException(
                $"{strange.Recorded.StreamId}@{strange.After.Version} was stored under the incarnation "
                + $"{strange.Fact.Incarnation}");
        }
        foreach (var added in batch)
        {
            Add(added, now, openingLimits);
        }
        return true;
    }

    private void Add(NewEvent added, long now, IReadOnlyDictionary<string, decimal> openingLimits)
    {
        var (id, version) = (added.Id, added.After.Version);
        var stored = new Stored(id.StreamId, version, added.Fact, added.Recorded.Clone(), added.Body.Hash)
        {
            At = now,
            OpeningLimits = openingLimits,
        };
        tables.Insert(new EventRow(tables.NextSequence(), id, id.StreamId, version, stored));
        tables.Streams[id.StreamId] = version;
        if (added.Fact is PaymentAuthorised authorised)
        {
            tables.OpenHolds.Add(id, new OpenHold(authorised.ExpiresAt, null));
        }
        else if (added.Fact is PaymentFollowUp { Held: 0 } and not PaymentRefunded)
        {
            tables.OpenHolds.Remove(id with { TransactionId = ((PaymentFollowUp)added.Fact).PaymentId });
        }
        history.Add(stored);
    }

    /// <summary>The events of an account that are in this database.</summary>
    public IEnumerable<Stored> Stream(string streamId) => tables.Stream(streamId).Select(row => row.Event!);

    // Of an account two events are read: the last one, and the last that has set its limit.
    public Dictionary<string, Account> Load(string[] streamIds, Account opened) =>
        streamIds.ToDictionary(
            id => id, id => After([.. Stream(id)], opened) with { Incarnation = IncarnationOf(id) },
            StringComparer.Ordinal);

    /// <summary>An account after events, as the last one and the last that has set its limit state it.</summary>
    public static Account After(IReadOnlyList<Stored> events, Account opened)
    {
        if (events.Count == 0)
        {
            return opened;
        }
        var last = events[^1];
        var limit = events.Select(stored => stored.Fact).OfType<CreditLimitChanged>().LastOrDefault()?.Limit;
        return last.Fact.Stated(last.Version, limit, opened) with { Head = last.Hash };
    }

    private long IncarnationOf(string streamId) =>
        Shard.IncarnationOf(tables.Shards.GetValueOrDefault(Shard.Of(streamId))?.Epoch ?? 0);

    public Dictionary<CommandId, Wire.V1.Event> Find(
        IReadOnlyCollection<CommandId> commands, Fence fence)
    {
        Hold(commands.Select(id => id.StreamId), fence);
        return commands.Distinct().Where(id => tables.Find(id) is not null)
            .ToDictionary(id => id, id => tables.Find(id)!.Event?.Recorded.Clone() ?? new Wire.V1.Event());
    }

    public Dictionary<CommandId, PaymentFollowUp> LastFollowUps(IReadOnlyCollection<CommandId> payments)
    {
        Hold(payments.Select(id => id.StreamId), []);
        return payments.Select(id => (Id: id, Last: Stream(id.StreamId).Select(stored => stored.Fact)
                .OfType<PaymentFollowUp>().LastOrDefault(fact => fact.PaymentId == id.TransactionId)))
            .Where(found => found.Last is not null).ToDictionary(found => found.Id, found => found.Last!);
    }

    /// <summary>What is on hold and due in the shards that the database holds, none of it twice
    /// within ten seconds.</summary>
    /// <param name="asOf">What is due by then.</param>
    /// <param name="limit">The most to list.</param>
    /// <param name="now">The time of the database.</param>
    public IReadOnlyList<CommandId> TakeDueHolds(DateTimeOffset asOf, int limit, DateTimeOffset now)
    {
        var due = tables.OpenHolds
            .Where(hold => hold.Value.ExpiresAt <= asOf && Holds(Shard.Of(hold.Key.StreamId))
                && (hold.Value.TakenAt is not { } taken || (now - taken).Duration() > StoreTimes.HoldTaken))
            .OrderBy(hold => hold.Value.ExpiresAt).Take(limit).Select(hold => hold.Key).ToList();
        due.ForEach(id => tables.OpenHolds[id] = tables.OpenHolds[id] with { TakenAt = now });
        return due;
    }

    public string[] List(string after, int limit) => [.. tables.Streams
        .Where(stream => stream.Value > 0 && string.CompareOrdinal(stream.Key, after) > 0).Select(stream => stream.Key)
        .Order(StringComparer.Ordinal).Take(limit)];

    // As the stored function of that name.
    private void Hold(IEnumerable<string> streamIds, Fence fence)
    {
        var elsewhere = Shard.Of(streamIds)
            .Where(shard => !Holds(shard)
                || (fence.EpochOf(shard) is not 0 and var wanted && wanted != tables.Shards[shard].Epoch)).ToList();
        if (elsewhere.Count > 0)
        {
            throw new PostgresException(
                "elsewhere: " + string.Join(',', elsewhere), "ERROR", "ERROR", StoredFunction.ShardElsewhere);
        }
        if (fence.Any(o => o.Epoch != tables.Epochs.GetValueOrDefault(o.Partition).Epoch))
        {
            throw new PostgresException("a later owner", "ERROR", "ERROR", StoredFunction.EpochEnded);
        }
    }

    private static PostgresException Moved() =>
        new("A stream has moved on.", "ERROR", "ERROR", StoredFunction.StreamMoved);
}
