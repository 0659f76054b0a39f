namespace Billing.Messaging;

/// <summary>One assignment of a partition to this process. It begins when the group assigns the partition. It ends when
/// the group takes the partition away, or when the process has to read it again from the watermark; then another one
/// begins. Thread-safe.</summary>
/// <param name="partition">The partition.</param>
/// <param name="fencedMax">How long it is left alone once it is fenced, in timestamps of the process's clock.</param>
public sealed class PartitionAssignment(SourcePartition partition, long fencedMax = 0)
{
    private volatile bool _isOver;
    private volatile bool _isFenced;
    private long _readAgainAt;

    /// <summary>The assignment of commands that no other process can get: those of transports that deliver a command
    /// once, to one process.</summary>
    public static PartitionAssignment Permanent { get; } = new(new SourcePartition("", 0));

    /// <summary>The partition.</summary>
    public SourcePartition Partition { get; } = partition;

    /// <summary>Whether it has ended. Whatever is not recorded by then is abandoned:
    /// the next owner gets it again.</summary>
    public bool IsOver => _isOver || ReadAgainAt != 0;

    /// <summary>Whether it has ended because the event store knows a later owner of the partition.</summary>
    public bool IsFenced => _isFenced;

    /// <summary>From when on the partition is to be read again, as a timestamp of the process's clock;
    /// 0 if it is not.</summary>
    public long ReadAgainAt => Volatile.Read(ref _readAgainAt);

    /// <summary>Ends the assignment: the group has taken the partition away.</summary>
    public void End() => _isOver = true;

    /// <summary>Ends the assignment: the event store knows a later owner of the partition, of which the group has not
    /// told this process yet.</summary>
    /// <param name="now">A timestamp of the process's clock.</param>
    public void Fence(long now)
    {
        _isFenced = true;
        Interlocked.CompareExchange(ref _readAgainAt, now + fencedMax, 0);
    }

    /// <summary>Ends the assignment: accounts of the partition are in another database than before.</summary>
    /// <param name="now">A timestamp of the process's clock.</param>
    /// <exception cref="InvalidOperationException">It is permanent.</exception>
    public void Restart(long now)
    {
        if (this == Permanent)
        {
            throw new InvalidOperationException("Nobody delivers the commands of the permanent assignment again.");
        }
        Interlocked.CompareExchange(ref _readAgainAt, now, 0);
    }
}

/// <summary>The partition of a request topic that a command was read from; all commands of an account come from the
/// same one, in order.</summary>
public readonly record struct SourcePartition(string Topic, int Number);
