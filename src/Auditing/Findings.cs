using System.Collections;

namespace Billing.Auditing;

/// <summary>Faults of one kind: all are counted, the first are kept. Safe from any thread.</summary>
public sealed class Findings : IEnumerable<string>
{
    /// <summary>Messages kept.</summary>
    public const int KeptMax = 100;

    private readonly List<string> _first = [];
    private readonly Lock _gate = new();
    private long _count;

    /// <summary>Faults found, also those whose messages were not kept.</summary>
    public long Count => Interlocked.Read(ref _count);

    /// <summary>Adds a fault.</summary>
    public void Add(FormattableString message)
    {
        lock (_gate)
        {
            _count++;
            if (_first.Count < KeptMax)
            {
                _first.Add(FormattableString.Invariant(message));
            }
        }
    }

    /// <summary>The first messages.</summary>
    public IEnumerator<string> GetEnumerator()
    {
        lock (_gate)
        {
            return _first.ToList().GetEnumerator();
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
