namespace Billing.Proxy.Memory;

/// <summary>A part of the memory that is shared out to holders, such as addresses or callers. A holder gets more only
/// while it then has no more than stays free: one alone gets half, two get a third each, and another one always finds
/// some. Thread-safe; different holders that take at the very same time may exceed it by what each of them takes.
/// </summary>
/// <param name="name">What the memory is for.</param>
/// <param name="bytes">Its size in bytes.</param>
internal sealed class MemoryPart(string name, long bytes)
{
    private long _taken;

    /// <summary>What the memory is for.</summary>
    public string Name => name;

    /// <summary>Its size in bytes.</summary>
    public long Bytes => bytes;

    /// <summary>The bytes that are taken.</summary>
    public long Taken => Interlocked.Read(ref _taken);

    /// <summary>Takes bytes for a holder, if it may have them.</summary>
    /// <param name="holder">Who takes them.</param>
    /// <param name="wanted">The bytes; above zero.</param>
    /// <param name="beyond">So many bytes more than stays free may the holder have.</param>
    public bool TryTake(Holder holder, long wanted, long beyond = 0)
    {
        lock (holder)
        {
            var free = bytes - Taken - wanted;
            // The first one of all always fits, however little memory there is.
            if (holder.Held + wanted > free + beyond && Taken > 0)
            {
                return false;
            }
            holder.Add(wanted);
            Interlocked.Add(ref _taken, wanted);
            return true;
        }
    }

    /// <summary>Gives bytes back that a holder has taken.</summary>
    public void Give(Holder holder, long given)
    {
        holder.Add(-given);
        Interlocked.Add(ref _taken, -given);
    }

    /// <summary>What a holder takes for one thing, nothing at first; disposing of it gives it back.</summary>
    internal sealed class Piece(MemoryPart part, Holder holder) : IDisposable
    {
        private long _bytes;

        /// <summary>Takes more, if the holder may have it.</summary>
        /// <param name="bytes">What it then has for the thing; not less than before.</param>
        public bool TryGrow(long bytes)
        {
            var may = bytes == _bytes || part.TryTake(holder, bytes - _bytes);
            _bytes = may ? bytes : _bytes;
            return may;
        }

        public void Dispose() => part.Give(holder, _bytes);
    }

    /// <summary>What one holder has of one part.</summary>
    internal sealed class Holder
    {
        private long _held;

        /// <summary>The bytes that it has.</summary>
        public long Held => Interlocked.Read(ref _held);

        /// <summary>Counts bytes as its own, or as given back if the number is negative.</summary>
        public void Add(long count) => Interlocked.Add(ref _held, count);
    }
}
