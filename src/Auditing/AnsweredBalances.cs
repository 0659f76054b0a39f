using Billing.Journals;

namespace Billing.Auditing;

/// <summary>The balances that clients received, each of an account at a version. Each is compared with the sum of the
/// events when the computation reaches its version. Not thread-safe.</summary>
/// <param name="unbalanced">Receives the differences.</param>
internal sealed class AnsweredBalances(Findings unbalanced)
{
    private readonly Dictionary<(string StreamId, long Version), decimal> _unmatched = [];

    /// <summary>Balances that are older than their requests allowed.</summary>
    public Findings Stale { get; } = new();

    /// <summary>Number of added balances, including repeated ones.</summary>
    public long Count { get; private set; }

    /// <summary>Adds a balance. Call this before the events are read.</summary>
    public void Add(in JournalEntry entry)
    {
        Count++;
        if (entry.Version < entry.MinVersion)
        {
            Stale.Add(
                $"{entry.StreamId}: answered a balance of version {entry.Version} to a request for version "
                + $"{entry.MinVersion} or later");
        }
        var balance = entry.Balance ?? 0;
        if (entry.Version == 0)
        {
            if (balance != 0)
            {
                unbalanced.Add($"{entry.StreamId}: answered balance {balance} of version 0, at which nothing is owed");
            }
        }
        else if (!_unmatched.TryAdd((entry.StreamId, entry.Version), balance)
            && _unmatched[(entry.StreamId, entry.Version)] != balance)
        {
            unbalanced.Add(
                $"{entry.StreamId}: answered balance {_unmatched[(entry.StreamId, entry.Version)]} and balance "
                + $"{balance}, both of version {entry.Version}");
        }
    }

    /// <summary>Compares the balances at a version with the sum of the events up to it.</summary>
    public void Pass(string streamId, long version, decimal balance)
    {
        if (_unmatched.Count > 0 && _unmatched.Remove((streamId, version), out var answered) && answered != balance)
        {
            unbalanced.Add(
                $"{streamId}: answered balance {answered} of version {version}; "
                + $"the events up to it sum up to {balance}");
        }
    }

    /// <summary>Finds balances at versions that no event has. Call this after all events are read.</summary>
    public void Conclude()
    {
        foreach (var ((streamId, version), balance) in _unmatched)
        {
            unbalanced.Add(
                $"{streamId}: answered balance {balance} of version {version}, but no event has this version");
        }
    }
}
