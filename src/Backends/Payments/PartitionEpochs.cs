using Billing.Backends.EventStore;
using Billing.Messaging;

namespace Billing.Backends.Payments;

/// <summary>The epochs of the partitions that this backend owns, in one database: with them it tells this backend from the owners before and
/// after it. Not thread-safe: one call at a time.</summary>
internal sealed class PartitionEpochs(IAccountStore store, TimeProvider time)
{
    private readonly Dictionary<PartitionAssignment, long> _epochs = [];

    /// <summary>Begins an epoch for each assignment that has none. What former owners of the partitions may still do is over when this
    /// returns.</summary>
    public Task BeginAsync(IReadOnlyList<PendingCommand> commands, CancellationToken cancellationToken) =>
        AskAsync(AssignmentsOf(commands).FindAll(a => !_epochs.ContainsKey(a)), cancellationToken);

    /// <summary>Begins another epoch for each assignment. What this backend itself did before, and of which it does not know whether
    /// it was committed, is decided when this returns. Assignments whose partition has a later owner are fenced.</summary>
    public Task RenewAsync(IReadOnlyList<PendingCommand> commands, CancellationToken cancellationToken) =>
        AskAsync(AssignmentsOf(commands), cancellationToken);

    /// <summary>What must hold for commands to be recorded or refused: the epochs of their partitions, and the numbers of their shards.</summary>
    public Fence FenceOf(IReadOnlyList<PendingCommand> commands) => FenceOf(commands, commands);

    /// <summary>The epochs of the partitions of some commands, and the numbers of the shards of others.</summary>
    public Fence FenceOf(IReadOnlyList<PendingCommand> ofPartitions, IReadOnlyList<PendingCommand> ofShards)
    {
        var shards = new List<(int Shard, long Epoch)>(1);
        foreach (var command in ofShards)
        {
            var known = 0;
            while (known < shards.Count && shards[known].Shard != command.Shard)
            {
                known++;
            }
            if (known == shards.Count)
            {
                shards.Add((command.Shard, command.ShardEpoch));
            }
            else if (command.ShardEpoch < shards[known].Epoch)
            {
                // The shard has come back since: what was looked up before is out of date, and so is the batch.
                shards[known] = (command.Shard, command.ShardEpoch);
            }
        }
        return new Fence(ofPartitions.Count == 0 ? [] : AssignmentsOf(ofPartitions).ConvertAll(Present), shards);
    }

    private async Task AskAsync(List<PartitionAssignment> assignments, CancellationToken cancellationToken)
    {
        // To begin an epoch of a partition that another process owns would fence that one.
        assignments.RemoveAll(a => a.IsOver);
        if (assignments.Count == 0)
        {
            return;
        }
        foreach (var over in _epochs.Keys.Where(a => a.IsOver).ToList())
        {
            _epochs.Remove(over);
        }
        var begun = await store.BeginEpochsAsync(assignments.ConvertAll(Present), cancellationToken);
        foreach (var assignment in assignments)
        {
            if (begun.TryGetValue(assignment.Partition, out var epoch))
            {
                _epochs[assignment] = epoch;
            }
            else
            {
                assignment.Fence(time.GetTimestamp());
            }
        }
    }

    private PartitionEpoch Present(PartitionAssignment assignment) =>
        new(assignment.Partition, _epochs.GetValueOrDefault(assignment));

    private static List<PartitionAssignment> AssignmentsOf(IReadOnlyList<PendingCommand> commands)
    {
        var found = new List<PartitionAssignment>();
        foreach (var command in commands)
        {
            var assignment = command.Assignment;
            if (assignment != PartitionAssignment.Permanent && !found.Contains(assignment))
            {
                found.Add(assignment);
            }
        }
        return found;
    }
}
