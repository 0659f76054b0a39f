namespace Billing.Messaging;

/// <summary>Tracks the offsets of one partition that are in flight, and the watermark: the offset below which all are
/// settled. Only the watermark may be committed, so that a restart repeats all unsettled records. Only the consuming
/// thread may track offsets and advance the watermark; any thread may settle slots.</summary>
internal sealed class OffsetWatermark
{
    private Queue<Slot> _inFlight = new();
    private long _last = -1;

    /// <summary>The epoch of the leader that appended the last record below the watermark;
    /// null if it is not known.</summary>
    public int? LeaderEpoch { get; private set; }

    /// <summary>Number of offsets tracked and not yet passed by the watermark.</summary>
    public int Count => _inFlight.Count;

    /// <summary>The read time of the oldest offset in flight, as passed to <see cref="Track"/>;
    /// 0 if there is none.</summary>
    public long OldestReadAt => _inFlight.TryPeek(out var head) ? head.ReadAt : 0;

    /// <summary>The oldest offset in flight; -1 if there is none.</summary>
    public long Oldest => _inFlight.TryPeek(out var head) ? head.Offset : -1;

    /// <summary>Tracks the next offset of the partition, with the time when it was read, see
    /// <see cref="OldestReadAt"/>, and the epoch of the leader that appended its record.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The offset is not above all those tracked before.</exception>
    public Slot Track(long offset, long readAt = 0, int? leaderEpoch = null)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(offset, _last);
        _last = offset;
        var slot = new Slot(offset, readAt, leaderEpoch);
        _inFlight.Enqueue(slot);
        return slot;
    }

    /// <summary>Forgets the offsets from one on, which come again as those of other records.</summary>
    public void Cut(long offset)
    {
        _inFlight = new(_inFlight.Where(slot => slot.Offset < offset));
        _last = offset - 1;
    }

    /// <summary>Advances the watermark past the settled offsets.</summary>
    /// <param name="next">The offset to commit: the first that is not settled; -1 if the
    /// watermark has not moved.</param>
    /// <returns>Whether the watermark has moved.</returns>
    public bool TryAdvance(out long next)
    {
        next = -1;
        while (_inFlight.TryPeek(out var head) && head.Settled)
        {
            next = head.Offset + 1;
            LeaderEpoch = head.LeaderEpoch;
            _inFlight.Dequeue();
        }
        return next >= 0;
    }

    /// <summary>One offset in flight, and the memory that its record takes.</summary>
    public sealed class Slot(long offset, long readAt, int? leaderEpoch)
    {
        private volatile bool _settled;
        private CommandMemory? _memory;
        private long _bytes;

        public long Offset => offset;

        public long ReadAt => readAt;

        public int? LeaderEpoch => leaderEpoch;

        public bool Settled => _settled;

        /// <summary>Takes memory for the record, until it is settled or left to others.</summary>
        public void Take(CommandMemory memory, int recordBytes) =>
            (_memory, _bytes) = (memory, memory.Take(recordBytes));

        public void Settle()
        {
            _settled = true;
            Leave();
        }

        /// <summary>Gives the memory back without settling the offset: another owner of the partition reads it
        /// again.</summary>
        public void Leave() => _memory?.Return(Interlocked.Exchange(ref _bytes, 0));
    }
}
