using Billing.Backends.Domain;
using Billing.Messaging;

namespace Billing.Backends.Payments;

/// <summary>Accounts as of their last event, for those used lately, each with the partition its commands come from. Two
/// generations make the passivation: a used account moves to the young one, and when that is full the old one is dropped
/// whole. What is held may be stale, never wrong for long: the stream's version makes an append from stale state fail. Safe
/// from any thread.</summary>
public sealed class AccountCache(int capacity)
{
    private readonly int _generationMax = Math.Max(1, capacity / 2);
    private readonly Lock _gate = new();
    private Dictionary<string, Entry> _young = new(StringComparer.Ordinal);
    private Dictionary<string, Entry> _old = new(StringComparer.Ordinal);

    /// <summary>Accounts held.</summary>
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

    /// <summary>The account, where it is held.</summary>
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

    /// <summary>Holds an account as it is now.</summary>
    public void Set(string streamId, Account account, SourcePartition partition)
    {
        lock (_gate)
        {
            _old.Remove(streamId);
            Add(streamId, new Entry(account, partition));
        }
    }

    /// <summary>Drops some accounts.</summary>
    public void Forget(IEnumerable<string> streamIds)
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
    public void Forget(IReadOnlyCollection<SourcePartition> partitions)
    {
        lock (_gate)
        {
            foreach (var generation in new[] { _young, _old })
            {
                // Removing what the enumerator has passed is allowed.
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
