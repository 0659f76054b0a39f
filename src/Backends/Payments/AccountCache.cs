using Billing.Backends.Domain;

namespace Billing.Backends.Payments;

/// <summary>Accounts as of their last event, for those used lately. Two generations make the passivation: a used account
/// moves to the young one, and when that is full the old one is dropped whole. It may be stale, never wrong for long: the
/// stream's version makes an append from stale state fail. Safe from any thread.</summary>
public sealed class AccountCache(int capacity)
{
    private readonly int _generationMax = Math.Max(1, capacity / 2);
    private readonly Lock _gate = new();
    private Dictionary<string, Account> _young = new(StringComparer.Ordinal);
    private Dictionary<string, Account> _old = new(StringComparer.Ordinal);

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
            if (_young.TryGetValue(streamId, out account!))
            {
                return true;
            }
            if (!_old.Remove(streamId, out account!))
            {
                return false;
            }
            Add(streamId, account);
            return true;
        }
    }

    /// <summary>Holds an account as it is now.</summary>
    public void Set(string streamId, Account account)
    {
        lock (_gate)
        {
            _old.Remove(streamId);
            Add(streamId, account);
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

    /// <summary>Drops all accounts.</summary>
    public void Clear()
    {
        lock (_gate)
        {
            _young.Clear();
            _old.Clear();
        }
    }

    private void Add(string streamId, Account account)
    {
        if (_young.Count >= _generationMax && !_young.ContainsKey(streamId))
        {
            _old = _young;
            _young = new Dictionary<string, Account>(StringComparer.Ordinal);
        }
        _young[streamId] = account;
    }
}
