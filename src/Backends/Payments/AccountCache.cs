using System.Diagnostics.CodeAnalysis;
using Billing.Backends.Domain;
using Billing.Messaging;

namespace Billing.Backends.Payments;

/// <summary>Recently used accounts as of their last event, each with the assignment of the partition that its commands
/// come from: when that is over, other backends may have changed the account, and it is not returned any more. Eviction
/// uses two generations: an account that is used moves to the young one, and when that is full, the old one is dropped
/// as a whole. A cached account may be stale all the same, but an append based on stale state fails, because of the
/// stream's version. Not thread-safe.</summary>
internal sealed class AccountCache(int capacity)
{
    private readonly int _generationMax = Math.Max(1, capacity / 2);
    private Dictionary<string, Entry> _young = new(StringComparer.Ordinal);
    private Dictionary<string, Entry> _old = new(StringComparer.Ordinal);

    public int Count => _young.Count + _old.Count;

    public bool TryGet(string streamId, [NotNullWhen(true)] out Account? account)
    {
        if (!_young.TryGetValue(streamId, out var entry) && _old.Remove(streamId, out entry))
        {
            Add(streamId, entry);
        }
        account = entry.Assignment is { IsOver: false } ? entry.Account : null;
        return account is not null;
    }

    public void Set(string streamId, Account account, PartitionAssignment assignment)
    {
        _old.Remove(streamId);
        Add(streamId, new Entry(account, assignment));
    }

    public void Remove(IEnumerable<string> streamIds)
    {
        foreach (var id in streamIds)
        {
            _young.Remove(id);
            _old.Remove(id);
        }
    }

    private void Add(string streamId, Entry entry)
    {
        if (_young.Count >= _generationMax && !_young.ContainsKey(streamId))
        {
            _old = _young;
            _young = new Dictionary<string, Entry>(StringComparer.Ordinal);
        }
        _young[streamId] = entry;
    }

    private readonly record struct Entry(Account Account, PartitionAssignment Assignment);
}
