namespace Billing.Messaging;

/// <summary>One assignment of a partition to this process, from the moment the group assigns it until the group takes it away. If the
/// same partition comes back later, that is another assignment. Thread-safe.</summary>
public sealed class PartitionAssignment(SourcePartition partition)
{
    private volatile bool _isOver;
    private long _fencedAt;

    /// <summary>The assignment of commands that no other process can get: those of transports that deliver a command once, to one
    /// process.</summary>
    public static PartitionAssignment Permanent { get; } = new(new SourcePartition("", 0));

    /// <summary>The partition.</summary>
    public SourcePartition Partition { get; } = partition;

    /// <summary>Whether the partition belongs to another owner now. Whatever is not recorded by then is left to that one.</summary>
    public bool IsOver => _isOver || FencedAt != 0;

    /// <summary>The timestamp passed to <see cref="Fence"/>; 0 if the assignment is not fenced.</summary>
    public long FencedAt => Volatile.Read(ref _fencedAt);

    /// <summary>Ends the assignment: the group has taken the partition away.</summary>
    public void End() => _isOver = true;

    /// <summary>Notes that the event store knows a later owner of the partition, of which the group has not told this process yet.
    /// </summary>
    /// <param name="now">A timestamp of the process's clock.</param>
    public void Fence(long now) => Interlocked.CompareExchange(ref _fencedAt, now, 0);
}

/// <summary>The partition of a request topic that a command was read from; all commands of an account come from the same one, in order.
/// </summary>
public readonly record struct SourcePartition(string Topic, int Number);
