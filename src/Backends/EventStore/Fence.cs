using System.Collections;
using System.Runtime.CompilerServices;

namespace Billing.Backends.EventStore;

/// <summary>What must still hold for a transaction to count: the epochs of partitions, and the numbers under which the database holds the shards. It is
/// the fencing token of M. Kleppmann, Designing Data-Intensive Applications, chapter 8.</summary>
/// <param name="partitions">The epochs that must not have ended.</param>
/// <param name="shards">How often each shard has changed its database; a shard that is not in it may be held under any number.</param>
[CollectionBuilder(typeof(Fence), nameof(Of))]
public sealed class Fence(IReadOnlyList<PartitionEpoch> partitions, IReadOnlyList<(int Shard, long Epoch)> shards) : IEnumerable<PartitionEpoch>
{
    /// <summary>The epochs that must not have ended.</summary>
    public IReadOnlyList<PartitionEpoch> Partitions => partitions;

    /// <summary>A fence of epochs alone; of none, for whoever relies on nothing.</summary>
    public static Fence Of(ReadOnlySpan<PartitionEpoch> partitions) => new(partitions.ToArray(), []);

    /// <summary>The number under which the database must hold a shard; 0 for any.</summary>
    public long EpochOf(int shard)
    {
        // There are few shards, and mostly one.
        for (var i = 0; i < shards.Count; i++)
        {
            if (shards[i].Shard == shard)
            {
                return shards[i].Epoch;
            }
        }
        return 0;
    }

    /// <inheritdoc/>
    public IEnumerator<PartitionEpoch> GetEnumerator() => partitions.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
