namespace Billing.Messaging;

/// <summary>The offsets of one partition that are in flight, and the one below which all are done. Only that one may be
/// committed: a restart then repeats whatever was not done. Tracking and taking belong to the consuming thread; slots are
/// settled from any thread.</summary>
public sealed class OffsetWatermark
{
    private readonly Queue<Slot> _inFlight = new();
    private long _last = -1;

    /// <summary>Offsets tracked and not yet passed by the watermark.</summary>
    public int Count => _inFlight.Count;

    /// <summary>Whether an offset is above all that were tracked. One that is not comes from another log: the topic was made
    /// again, or has lost its end.</summary>
    public bool IsNext(long offset) => offset > _last;

    /// <summary>When the oldest of them was read, as the tracking was told; 0 where there is none.</summary>
    public long OldestReadAt => _inFlight.TryPeek(out var head) ? head.ReadAt : 0;

    /// <summary>The oldest of them; -1 where there is none.</summary>
    public long Oldest => _inFlight.TryPeek(out var head) ? head.Offset : -1;

    /// <summary>Enters the next offset of the partition.</summary>
    /// <param name="offset">The offset.</param>
    /// <param name="readAt">When it was read, for whoever asks how old it is.</param>
    /// <exception cref="ArgumentOutOfRangeException">The offset is not above the ones before it.</exception>
    public Slot Track(long offset, long readAt)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(offset, _last);
        _last = offset;
        var slot = new Slot(offset, readAt);
        _inFlight.Enqueue(slot);
        return slot;
    }

    /// <summary>Enters the next offset of the partition.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The offset is not above the ones before it.</exception>
    public Slot Track(long offset) => Track(offset, 0);

    /// <summary>Moves the watermark over what is settled.</summary>
    /// <param name="next">The offset to commit: the first one that is not settled.</param>
    /// <returns>Whether the watermark moved since the last call.</returns>
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

        /// <summary>The offset.</summary>
        public long Offset { get; } = offset;

        internal long ReadAt => readAt;

        internal bool Settled => _settled;

        /// <summary>Marks the offset as done with.</summary>
        public void Settle() => _settled = true;
    }
}
