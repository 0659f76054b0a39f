using Billing.Backends.EventStore;
using Billing.Messaging;
using Npgsql;

namespace Billing.Simulation.Store;

/// <summary>A row of the table of events.</summary>
/// <param name="Sequence">Its number in its database.</param>
/// <param name="Id">The command that it records or closes.</param>
/// <param name="StreamId">The account's stream; that of the tombstones if the command is closed.</param>
/// <param name="Version">The version in that stream.</param>
/// <param name="Event">The event; null for a tombstone.</param>
internal sealed record EventRow(long Sequence, CommandId Id, string StreamId, long Version, Stored? Event)
{
    /// <summary>The shard that it belongs to.</summary>
    public int Shard { get; } = Billing.Backends.EventStore.Shard.Of(Id.StreamId);

    /// <summary>Whether it is a copy of another row. Sequence numbers belong to a database, and so do the
    /// versions of tombstones.</summary>
    public bool IsCopyOf(EventRow other) => (Id, StreamId) == (other.Id, other.StreamId)
        && (Event is null || Version == other.Version) && ReferenceEquals(Event, other.Event);

    /// <summary>What another database makes of it under a number of its own.</summary>
    public EventRow Copy(long sequence) =>
        this with { Sequence = sequence, Version = Event is null ? Statements.TombstoneVersion(sequence) : Version };
}

/// <summary>A payment with something on hold.</summary>
internal sealed record OpenHold(DateTimeOffset ExpiresAt, DateTimeOffset? TakenAt);

/// <summary>A shard that a database holds, or has held.</summary>
internal sealed record ShardRow(long Epoch, bool IsHeld, string? MovingTo);

/// <summary>The tables of one database, with their unique keys: what violates one fails as in PostgreSQL.</summary>
internal sealed class Tables
{
    /// <summary>Marten's index by which a stream has a version once.</summary>
    public const string OneVersion = "pk_mt_events_stream_and_version";

    private readonly Dictionary<CommandId, EventRow> _byId = [];
    private readonly Dictionary<string, SortedList<long, EventRow>> _byStream = new(StringComparer.Ordinal);

    public Tables()
    {
    }

    private Tables(Tables other)
    {
        foreach (var row in other.Events)
        {
            Insert(row);
        }
        LastSequence = other.LastSequence;
        Streams = new(other.Streams, StringComparer.Ordinal);
        OpenHolds = new(other.OpenHolds);
        Shards = new(other.Shards);
        Epochs = new(other.Epochs);
    }

    /// <summary>The events and tombstones by their sequence numbers.</summary>
    public List<EventRow> Events { get; } = [];

    /// <summary>The last sequence number that was given out.</summary>
    public long LastSequence { get; private set; }

    /// <summary>The version of each stream.</summary>
    public Dictionary<string, long> Streams { get; } = new(StringComparer.Ordinal);

    /// <summary>The payments with something on hold.</summary>
    public Dictionary<CommandId, OpenHold> OpenHolds { get; } = [];

    /// <summary>The shards that the database holds, or has held.</summary>
    public Dictionary<int, ShardRow> Shards { get; } = [];

    /// <summary>The epoch of each partition.</summary>
    public Dictionary<SourcePartition, (long Epoch, Guid? Owner)> Epochs { get; } = [];

    /// <summary>The state of the tables now, for a restore.</summary>
    public Tables Copy() => new(this);

    public long NextSequence() => ++LastSequence;

    public EventRow? Find(CommandId id) => _byId.GetValueOrDefault(id);

    /// <summary>The events of a stream, by their versions.</summary>
    public IList<EventRow> Stream(string streamId) => _byStream.TryGetValue(streamId, out var rows) ? rows.Values : [];

    /// <summary>Which key an event would violate; null for none.</summary>
    public string? Violation(CommandId id, string streamId, long version) =>
        _byId.ContainsKey(id) ? EventStoreSchema.OneEventForEachCommand
        : _byStream.TryGetValue(streamId, out var rows) && rows.ContainsKey(version) ? OneVersion
        : null;

    /// <summary>Inserts an event, or fails as PostgreSQL does.</summary>
    public void Insert(EventRow row)
    {
        if (Violation(row.Id, row.StreamId, row.Version) is { } constraint)
        {
            throw Duplicate(constraint);
        }
        if (!_byStream.TryGetValue(row.StreamId, out var stream))
        {
            _byStream[row.StreamId] = stream = [];
        }
        stream.Add(row.Version, row);
        _byId.Add(row.Id, row);
        Events.Add(row);
    }

    /// <summary>Deletes events.</summary>
    public void Delete(IReadOnlyCollection<EventRow> rows)
    {
        foreach (var row in rows)
        {
            _byId.Remove(row.Id);
            _byStream[row.StreamId].Remove(row.Version);
        }
        Events.RemoveAll(rows.Contains);
    }

    /// <summary>The violation of a unique key.</summary>
    public static PostgresException Duplicate(string constraint, string table = "mt_events") => new(
        "duplicate key value violates unique constraint \"" + constraint + '"', "ERROR", "ERROR",
        PostgresErrorCodes.UniqueViolation, tableName: table, constraintName: constraint);
}
