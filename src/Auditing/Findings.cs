using System.Collections;

namespace Billing.Auditing;

/// <summary>The faults of one kind: all are counted, and the messages of the first are kept. Thread-safe.</summary>
public sealed class Findings : IEnumerable<string>
{
    /// <summary>The maximum number of messages that are kept.</summary>
    public const int KeptMax = 100;

    private readonly List<string> _first = [];
    private readonly Lock _gate = new();
    private long _count;

    /// <summary>Number of faults, including those whose messages were not kept.</summary>
    public long Count => Interlocked.Read(ref _count);

    /// <summary>Adds a fault.</summary>
    public void Add(string message)
    {
        lock (_gate)
        {
            _count++;
            if (_first.Count < KeptMax)
            {
                _first.Add(message);
            }
        }
    }

    /// <summary>Enumerates the messages of the first faults.</summary>
    public IEnumerator<string> GetEnumerator()
    {
        lock (_gate)
        {
            return _first.ToList().GetEnumerator();
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
