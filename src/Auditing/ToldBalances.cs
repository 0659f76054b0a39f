using Billing.Client.Load;

namespace Billing.Auditing;

/// <summary>The balances that clients received, each of an account at a version. Each is compared with the sum of the events
/// when the computation reaches its version. Not thread-safe.</summary>
/// <param name="unbalanced">Receives the differences.</param>
internal sealed class ToldBalances(Findings unbalanced)
{
    private readonly Dictionary<(string StreamId, long Version), decimal> _unmatched = [];

    /// <summary>Number of added balances, including repeated ones.</summary>
    public long Count { get; private set; }

    /// <summary>Adds a balance. Call this before the events are read.</summary>
    public void Add(in JournalEntry told)
    {
        Count++;
        var balance = told.Balance ?? 0;
        if (told.Version == 0)
        {
            if (balance != 0)
            {
                unbalanced.Add($"{told.StreamId}: answered balance {balance} of version 0, at which nothing is owed");
            }
        }
        else if (!_unmatched.TryAdd((told.StreamId, told.Version), balance) && _unmatched[(told.StreamId, told.Version)] != balance)
        {
            unbalanced.Add($"{told.StreamId}: answered balance {_unmatched[(told.StreamId, told.Version)]} and balance {balance}, both of version {told.Version}");
        }
    }

    /// <summary>Compares the balances at a version with the sum of the events up to it.</summary>
    public void Pass(string streamId, long version, decimal balance)
    {
        if (_unmatched.Count > 0 && _unmatched.Remove((streamId, version), out var told) && told != balance)
        {
            unbalanced.Add($"{streamId}: answered balance {told} of version {version}; the events up to it sum up to {balance}");
        }
    }

    /// <summary>Finds balances at versions that no event has. Call this after all events are read.</summary>
    public void Conclude()
    {
        foreach (var ((streamId, version), balance) in _unmatched)
        {
            unbalanced.Add($"{streamId}: answered balance {balance} of version {version}, but no event has this version");
        }
    }
}
