using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Payments.InFlight;
using Billing.Messaging;

namespace Billing.Backends.Payments;

/// <summary>Which partitions and shards this backend owns, in one database: the epochs of its partitions, with which it
/// tells itself from the owners before and after it, and the numbers of the shards. A partition with a later owner, and
/// one with accounts that are in another database now, are one case: what is in flight is abandoned, and the partition
/// is read again from the watermark. Not thread-safe: one call at a time.</summary>
internal sealed partial class Ownership(IAccountStore store, ShardMap map, TimeProvider time, ILogger<Ownership> logger)
{
    private readonly Dictionary<PartitionAssignment, long> _epochs = [];

    // By which an epoch is recognised that has begun although the connection broke.
    private readonly Guid _owner = Guid.CreateVersion7(time.GetUtcNow());

    /// <summary>Keeps former owners of the commands' partitions from recording anything from now on. Where this backend
    /// has tried before to record one of them, it waits for what is left of that.</summary>
    /// <param name="commands">The commands, of which those of partitions with another owner are abandoned.</param>
    /// <param name="isAgain">Whether this was tried before and has failed.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The conditions under which a receipt that is not found is not there.</returns>
    public async Task<Fence> TakeOverAsync(
        List<PendingCommand> commands, bool isAgain, CancellationToken cancellationToken)
    {
        await BeginAsync(commands, cancellationToken);
        if (isAgain || commands.Exists(c => c.IsAuthorised))
        {
            await RenewAsync(commands, cancellationToken);
        }
        var open = commands.FindAll(c => !c.AbandonIfOver());
        // An answer to a question is its end. A command without a receipt is recorded later, under its own fence.
        return FenceOf(open.FindAll(c => c.IsStatusQuery), open);
    }

    /// <summary>Begins an epoch for each assignment that has none. What former owners of the partitions may still do is
    /// over when this returns.</summary>
    public Task BeginAsync(IReadOnlyList<PendingCommand> commands, CancellationToken cancellationToken) =>
        AskAsync(AssignmentsOf(commands).FindAll(a => !_epochs.ContainsKey(a)), cancellationToken);

    /// <summary>Begins another epoch for each assignment. What this backend itself did before, and of which it does
    /// not know whether it was committed, is decided when this returns. Assignments whose partition has a later
    /// owner are fenced.</summary>
    public Task RenewAsync(IReadOnlyList<PendingCommand> commands, CancellationToken cancellationToken) =>
        AskAsync(AssignmentsOf(commands), cancellationToken);

    /// <summary>What must hold for commands to be recorded or refused: the epochs of their partitions, and the
    /// numbers of their shards.</summary>
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
                shards.Add((command.Shard, command.Holder.Epoch));
            }
            else if (command.Holder.Epoch < shards[known].Epoch)
            {
                // The shard has come back since: what was looked up before is out of date, and so is the batch.
                shards[known] = (command.Shard, command.Holder.Epoch);
            }
        }
        return new Fence(ofPartitions.Count == 0 ? [] : AssignmentsOf(ofPartitions).ConvertAll(Present), shards);
    }

    /// <summary>Gives up the partitions of commands whose shards turn out to be in another database.</summary>
    public void GiveUp(IReadOnlyCollection<PendingCommand> commands, IReadOnlySet<int> shards)
    {
        map.Forget(shards);
        var moved = commands.Where(c => !c.IsDone && shards.Contains(c.Shard)).ToList();
        moved.ForEach(c => c.Assignment.Restart(time.GetTimestamp()));
        Moved(moved.Count, string.Join(", ", shards.Order()));
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
        var begun = await store.BeginEpochsAsync(assignments.ConvertAll(Present), _owner, cancellationToken);
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

    [LoggerMessage(
        225, LogLevel.Information,
        "{Count} commands of the shards {Shards} are in another database now; their partitions are read again")]
    private partial void Moved(int count, string shards);
}
