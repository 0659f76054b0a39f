using Billing.Backends.Domain;
using Billing.Messaging;

namespace Billing.Backends.Payments;

/// <summary>Recently used accounts as of their last event, each with the partition that its commands come from. Eviction uses
/// two generations: an account that is used moves to the young one, and when that is full, the old one is dropped as a whole. A
/// cached account may be stale, but an append based on stale state fails, because of the stream's version. Thread-safe.
/// </summary>
public sealed class AccountCache(int capacity)
{
    private readonly int _generationMax = Math.Max(1, capacity / 2);
    private readonly Lock _gate = new();
    private Dictionary<string, Entry> _young = new(StringComparer.Ordinal);
    private Dictionary<string, Entry> _old = new(StringComparer.Ordinal);

    /// <summary>Number of cached accounts.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _young.Count + _old.Count;
            }
        }
    }

    /// <summary>Gets an account if it is cached.</summary>
    public bool TryGet(string streamId, out Account account)
    {
        lock (_gate)
        {
            if (_young.TryGetValue(streamId, out var entry))
            {
                account = entry.Account;
                return true;
            }
            if (!_old.Remove(streamId, out entry))
            {
                account = null!;
                return false;
            }
            Add(streamId, entry);
            account = entry.Account;
            return true;
        }
    }

    /// <summary>Adds or replaces an account.</summary>
    public void Set(string streamId, Account account, SourcePartition partition)
    {
        lock (_gate)
        {
            _old.Remove(streamId);
            Add(streamId, new Entry(account, partition));
        }
    }

    /// <summary>Drops some accounts.</summary>
    public void Remove(IEnumerable<string> streamIds)
    {
        lock (_gate)
        {
            foreach (var id in streamIds)
            {
                _young.Remove(id);
                _old.Remove(id);
            }
        }
    }

    /// <summary>Drops the accounts of some partitions.</summary>
    public void Remove(IReadOnlyCollection<SourcePartition> partitions)
    {
        lock (_gate)
        {
            foreach (var generation in new[] { _young, _old })
            {
                // A Dictionary allows removing while it is enumerated.
                foreach (var (id, entry) in generation)
                {
                    if (partitions.Contains(entry.Partition))
                    {
                        generation.Remove(id);
                    }
                }
            }
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

    private readonly record struct Entry(Account Account, SourcePartition Partition);
}
