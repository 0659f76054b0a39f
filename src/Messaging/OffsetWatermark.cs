namespace Billing.Messaging;

/// <summary>Tracks the offsets of one partition that are in flight, and the watermark: the offset below which all are settled.
/// Only the watermark may be committed, so that a restart repeats all unsettled records. Only the consuming thread may track
/// offsets and advance the watermark; any thread may settle slots.</summary>
internal sealed class OffsetWatermark
{
    private readonly Queue<Slot> _inFlight = new();
    private long _last = -1;

    /// <summary>Number of offsets tracked and not yet passed by the watermark.</summary>
    public int Count => _inFlight.Count;

    /// <summary>Whether an offset is above all that were tracked. If it is not, the log is another one: the topic was created
    /// again, or was truncated.</summary>
    public bool IsNext(long offset) => offset > _last;

    /// <summary>The read time of the oldest offset in flight, as passed to <see cref="Track"/>; 0 if there is none.</summary>
    public long OldestReadAt => _inFlight.TryPeek(out var head) ? head.ReadAt : 0;

    /// <summary>The oldest offset in flight; -1 if there is none.</summary>
    public long Oldest => _inFlight.TryPeek(out var head) ? head.Offset : -1;

    /// <summary>Tracks the next offset of the partition, with the time when it was read; see <see cref="OldestReadAt"/>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The offset is not above all those tracked before.</exception>
    public Slot Track(long offset, long readAt = 0)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(offset, _last);
        _last = offset;
        var slot = new Slot(offset, readAt);
        _inFlight.Enqueue(slot);
        return slot;
    }

    /// <summary>Advances the watermark past the settled offsets.</summary>
    /// <param name="next">The offset to commit: the first that is not settled; -1 if the watermark has not moved.</param>
    /// <returns>Whether the watermark has moved.</returns>
    public bool TryAdvance(out long next)
    {
        next = -1;
        while (_inFlight.TryPeek(out var head) && head.Settled)
        {
            next = head.Offset + 1;
            _inFlight.Dequeue();
        }
        return next >= 0;
    }

    /// <summary>One offset in flight.</summary>
    public sealed class Slot(long offset, long readAt)
    {
        private volatile bool _settled;

        public long Offset => offset;

        public long ReadAt => readAt;

        public bool Settled => _settled;

        public void Settle() => _settled = true;
    }
}
