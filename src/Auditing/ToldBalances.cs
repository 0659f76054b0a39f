using Billing.Client.Load;

namespace Billing.Auditing;

/// <summary>Balances that clients were told, each of an account as of a version, to be compared with the fold as it passes
/// there. One caller at a time.</summary>
/// <param name="unbalanced">Takes what differs.</param>
internal sealed class ToldBalances(Findings unbalanced)
{
    private readonly Dictionary<(string StreamId, long Version), decimal> _unmatched = [];

    /// <summary>Balances that were told, each time counted.</summary>
    public long Count { get; private set; }

    /// <summary>Takes a balance; before the events.</summary>
    public void Add(in JournalEntry told)
    {
        Count++;
        var balance = told.Balance ?? 0;
        if (told.Version == 0)
        {
            if (balance != 0)
            {
                unbalanced.Add($"{told.StreamId}: told balance {balance} of version 0, which owes nothing");
            }
        }
        else if (!_unmatched.TryAdd((told.StreamId, told.Version), balance) && _unmatched[(told.StreamId, told.Version)] != balance)
        {
            unbalanced.Add($"{told.StreamId}: told balance {_unmatched[(told.StreamId, told.Version)]} and balance {balance}, both of version {told.Version}");
        }
    }

    /// <summary>Compares with the fold at a version.</summary>
    public void Pass(string streamId, long version, decimal balance)
    {
        if (_unmatched.Count > 0 && _unmatched.Remove((streamId, version), out var told) && told != balance)
        {
            unbalanced.Add($"{streamId}: told balance {told} of version {version}; the events up to it sum up to {balance}");
        }
    }

    /// <summary>Finds balances of versions that no event has. Call this when all events are in.</summary>
    public void Conclude()
    {
        foreach (var ((streamId, version), balance) in _unmatched)
        {
            unbalanced.Add($"{streamId}: told balance {balance} of version {version}, which no event has");
        }
    }
}
