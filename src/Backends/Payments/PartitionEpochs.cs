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

    /// <summary>The epochs under which commands are recorded.</summary>
    public List<PartitionEpoch> Of(IReadOnlyList<PendingCommand> commands) => AssignmentsOf(commands).ConvertAll(Present);

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
