using System.Collections.Concurrent;

namespace Billing.Misuse.Connections;

/// <summary>Counts what becomes of hostile callers. Thread-safe.</summary>
internal sealed class Tally
{
    private readonly ConcurrentDictionary<string, long> _refused = new(StringComparer.Ordinal);
    private long _made;
    private long _unreached;
    private long _closed;
    private long _aborted;
    private long _held;
    private long _streamsReset;
    private long _served;
    private long _sentBytes;

    /// <summary>A connection was made.</summary>
    public void Made() => Interlocked.Increment(ref _made);

    /// <summary>Bytes were sent.</summary>
    public void Sent(int bytes) => Interlocked.Add(ref _sentBytes, bytes);

    /// <summary>A connection was not made.</summary>
    public void Unreached() => Interlocked.Increment(ref _unreached);

    /// <summary>A connection is over, or the attack is.</summary>
    public void Ended(ConnectionEnd end)
    {
        switch (end)
        {
            case ConnectionEnd.Closed:
                Interlocked.Increment(ref _closed);
                break;
            case ConnectionEnd.Aborted:
                Interlocked.Increment(ref _aborted);
                break;
            default:
                Interlocked.Increment(ref _held);
                break;
        }
    }

    /// <summary>The proxy reset a stream.</summary>
    public void StreamReset() => Interlocked.Increment(ref _streamsReset);

    /// <summary>A request was answered.</summary>
    /// <param name="status">The status of the refusal; null for success.</param>
    public void Answered(string? status)
    {
        if (status is null)
        {
            Interlocked.Increment(ref _served);
        }
        else
        {
            _refused.AddOrUpdate(status, 1, static (_, count) => count + 1);
        }
    }

    /// <summary>The counts so far.</summary>
    public AttackResult Result() => new(
        Interlocked.Read(ref _made), Interlocked.Read(ref _sentBytes), Interlocked.Read(ref _unreached),
        Interlocked.Read(ref _closed), Interlocked.Read(ref _aborted), Interlocked.Read(ref _held),
        Interlocked.Read(ref _streamsReset), Interlocked.Read(ref _served),
        new SortedDictionary<string, long>(_refused, StringComparer.Ordinal));
}

/// <summary>How a connection ended.</summary>
internal enum ConnectionEnd
{
    /// <summary>It is open, or the attack closed it.</summary>
    Held,

    /// <summary>The proxy closed it.</summary>
    Closed,

    /// <summary>The proxy reset it.</summary>
    Aborted,
}
