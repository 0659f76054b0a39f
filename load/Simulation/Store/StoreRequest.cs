using Billing.Backends.EventStore;
using Billing.Messaging;

namespace Billing.Simulation.Store;

/// <summary>What a request to the event store touches, and so which transactions it waits for.</summary>
/// <param name="Writes">Whether it writes.</param>
internal sealed record StoreRequest(bool Writes)
{
    /// <summary>The accounts that it reads or appends to.</summary>
    public IReadOnlyCollection<string> Streams { get; init; } = [];

    /// <summary>The receipts that it reads or inserts.</summary>
    public IReadOnlyCollection<CommandId> Receipts { get; init; } = [];

    /// <summary>The partitions whose epochs it keeps from ending.</summary>
    public IReadOnlyCollection<SourcePartition> Held { get; init; } = [];

    /// <summary>The partitions whose epochs it ends.</summary>
    public IReadOnlyCollection<SourcePartition> Begun { get; init; } = [];

    /// <summary>The shard that is moved by it, whose lock its session holds.</summary>
    public int? Moves { get; init; }

    /// <summary>Whether it is the transaction of a move that must know whether appends are under way.</summary>
    public bool ChangesShards { get; init; }

    /// <summary>Whether it keeps the shards of the database from being changed, as appends do.</summary>
    public bool KeepsShards { get; init; }

    /// <summary>When its transaction ends, if it has stalled.</summary>
    public long EndsAt { get; init; }

    /// <summary>Whether this request waits for another one that has not been committed: reads do not.</summary>
    public bool WaitsFor(StoreRequest other) => Writes
        && (Streams.Any(other.Streams.Contains) || Receipts.Any(other.Receipts.Contains)
            || Begun.Any(other.Begun.Contains)
            || Begun.Any(other.Held.Contains) || Held.Any(other.Begun.Contains));
}
