using System.Runtime.InteropServices;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Telemetry;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using BitFaster.Caching.Lru;

namespace Billing.Backends.Balances;

/// <summary>Accounts, each as of its last known event; if there are more than the view may hold, those used last.
/// Events may arrive more than once: an event at or below the account's version is ignored, the next one is applied,
/// and one that skips a version is reported, so that the caller reads the account from the event store. An event that
/// repeats the account's version with different contents is reported too: one of the two is not from a backend, and
/// until it is read the account takes no further events. Events of accounts that are not held are reported while there
/// is room for these, and otherwise ignored. When anything shows that the event store holds a shard under a higher
/// number than before, since it was moved, or restored to an earlier time, what is known of its accounts counts no
/// longer: each is read again before it is answered or takes another event. What an account takes is
/// <see cref="BackendMemory.ViewedAccountBytes"/>. Thread-safe.</summary>
internal sealed class BalanceView
{
    // More than there are; whoever may write to the topic can forge others.
    private const int CurrenciesMax = 1000;

    private readonly Account _opened;
    private readonly int _capacity;
    private readonly TimeProvider _time;
    private readonly Lock _gate = new();
    private readonly ConcurrentLru<string, Entry> _accounts;
    private readonly Dictionary<string, List<Waiter>> _waiters = new(StringComparer.Ordinal);

    // What is being read from the event store: the accounts of which no event has passed by since the read began.
    private readonly List<HashSet<string>> _reads = [];

    // Accounts share the few currencies there are, instead of each keeping the copy that came with its first event.
    private readonly Dictionary<string, string> _currencies = new(StringComparer.Ordinal);

    // The highest number of each shard that an event or an account has stated.
    private readonly long[] _incarnations = new long[Shard.Count];

    private int _count;
    private bool _hasDropped;
    private bool _hasMissed;
    private bool _isComplete;

    /// <summary>Creates an empty view.</summary>
    /// <param name="opened">The state of an account without events.</param>
    /// <param name="capacity">The most accounts to hold, at least 3.</param>
    /// <param name="time">For waits.</param>
    public BalanceView(Account opened, int capacity, TimeProvider time)
    {
        (_opened, _capacity, _time) = (opened, capacity, time);
        _accounts = new ConcurrentLru<string, Entry>(concurrencyLevel: 1, capacity, StringComparer.Ordinal);
        _accounts.Events.Value!.ItemRemoved += (_, removed) => Drop(removed.Key!);
    }

    /// <summary>Number of accounts held, all of which have events.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _count;
            }
        }
    }

    /// <summary>Whether no more accounts are read for the view until they are asked for.</summary>
    public bool IsFull
    {
        get
        {
            lock (_gate)
            {
                return _hasDropped || _count >= _capacity;
            }
        }
    }

    /// <summary>Number of calls of <see cref="WaitAsync"/> that are waiting.</summary>
    public int Waiting
    {
        get
        {
            lock (_gate)
            {
                return _waiters.Values.Sum(w => w.Count);
            }
        }
    }

    /// <summary>The state of an account.</summary>
    /// <returns>Null if the view does not know it; the event store does.</returns>
    public Account? Find(string streamId)
    {
        lock (_gate)
        {
            return _accounts.TryGet(streamId, out var entry) ? IsFormer(entry) ? null : entry.Account
                : _isComplete ? _opened
                : null;
        }
    }

    /// <summary>Whether an account is held.</summary>
    public bool Holds(string streamId) => _accounts.TryGet(streamId, out _);

    /// <summary>Forgets all accounts: events may have passed by unseen.</summary>
    public void Reset()
    {
        lock (_gate)
        {
            _accounts.Clear();
            _reads.Clear();
            Array.Clear(_incarnations);
            _hasDropped = _hasMissed = _isComplete = false;
        }
    }

    /// <summary>States that every account with events has been read. From now on one that the view does not hold has
    /// none, until accounts are dropped, or <see cref="Miss"/> is called.</summary>
    public void Complete()
    {
        lock (_gate)
        {
            _isComplete = !_hasMissed && !_hasDropped;
        }
    }

    /// <summary>States that an account could not be read.</summary>
    public void Miss()
    {
        lock (_gate)
        {
            (_hasMissed, _isComplete) = (true, false);
        }
    }

    /// <summary>Drops an account that has missed an event and cannot be read at present.</summary>
    public void Forget(string streamId)
    {
        lock (_gate)
        {
            _accounts.TryRemove(streamId);
            (_hasMissed, _isComplete) = (true, false);
        }
    }

    /// <summary>Applies published events.</summary>
    /// <returns>The streams of the accounts that should be read from the event store, without duplicates: one is not
    /// held and there is room for it, or an event is missing, contradicts a known one, or does not lead to the
    /// balance that it states.</returns>
    public IReadOnlyCollection<string> Apply(IReadOnlyList<Event> events)
    {
        HashSet<string>? gaps = null;
        foreach (var recorded in events)
        {
            if (!TryApply(recorded))
            {
                (gaps ??= new HashSet<string>(StringComparer.Ordinal)).Add(recorded.StreamId);
            }
        }
        return gaps is null ? [] : gaps;
    }

    /// <summary>Reads accounts from the event store and holds those with events, unless what the view knows
    /// by then is newer.</summary>
    /// <returns>What was read: every account, by its stream id.</returns>
    /// <exception cref="Exception">The event store failed.</exception>
    public async Task<Dictionary<string, Account>> ReadAsync(
        IAccountReader reader, string[] streamIds, CancellationToken cancellationToken)
    {
        var read = new HashSet<string>(streamIds, StringComparer.Ordinal);
        lock (_gate)
        {
            _reads.Add(read);
        }
        try
        {
            var accounts = await reader.LoadAsync(streamIds, _opened, cancellationToken);
            lock (_gate)
            {
                // One account may be dropped for another of them.
                foreach (var streamId in _reads.Contains(read) ? streamIds.Where(read.Contains) : [])
                {
                    Put(streamId, accounts[streamId]);
                }
            }
            return accounts;
        }
        finally
        {
            lock (_gate)
            {
                _reads.Remove(read);
            }
        }
    }

    /// <summary>Waits until an account has reached a version.</summary>
    /// <returns>Whether it has; false on timeout.</returns>
    public Task<bool> WaitAsync(string streamId, long version, TimeSpan atMost)
    {
        lock (_gate)
        {
            var isReached = _accounts.TryGet(streamId, out var entry) && !IsFormer(entry)
                ? entry.Account.Version >= version
                : version <= _opened.Version;
            if (isReached || atMost <= TimeSpan.Zero)
            {
                return Task.FromResult(isReached);
            }
            var waiter = new Waiter(version);
            ref var waiters = ref CollectionsMarshal.GetValueRefOrAddDefault(_waiters, streamId, out _);
            (waiters ??= []).Add(waiter);
            waiter.Bound = _time.CreateTimer(_ => TimeOut(streamId, waiter), null, atMost, Timeout.InfiniteTimeSpan);
            return waiter.Task;
        }
    }

    private bool TryApply(Event recorded)
    {
        lock (_gate)
        {
            if (!_accounts.TryGet(recorded.StreamId, out var entry) && !_isComplete)
            {
                return LetPass(recorded.StreamId);
            }
            if (IsOfFormerIncarnation(recorded, entry) is { } isCovered)
            {
                return isCovered;
            }
            var known = entry?.Account ?? _opened;
            if (recorded.Version < known.Version)
            {
                return true;
            }
            if (entry is not null && recorded.Version == known.Version)
            {
                return Repeats(recorded, entry);
            }
            if (recorded.Version != known.Version + 1 || entry is { IsInDoubt: true }
                || recorded.ToFact() is not { } fact)
            {
                return false;
            }
            // Anyone who may write to the topic can forge an event; at least one that does not fit the
            // account is not applied.
            var after = known.Apply(fact) with { Incarnation = Math.Max(known.Incarnation, recorded.Incarnation) };
            if (fact.Balance != after.Balance || (recorded.OnHold?.ToDecimal() ?? 0) != after.OnHold
                || (recorded.AccountStatus == AccountStatus.Unspecified ? AccountStatus.Open : recorded.AccountStatus)
                    != after.Status)
            {
                return false;
            }
            Set(recorded.StreamId, entry, after, Fingerprint(fact, recorded.Balance));
            return true;
        }
    }

    // Null if the event and the account are of one incarnation; otherwise whether the event can be left out.
    // The store knows which of the two holds: the versions of another incarnation say nothing about these.
    private bool? IsOfFormerIncarnation(Event recorded, Entry? entry)
    {
        Note(recorded.StreamId, recorded.Incarnation, entry);
        return entry is null ? null
            : IsFormer(entry) ? false
            : recorded.Incarnation < entry.Account.Incarnation ? recorded.Version <= entry.Account.Version
            : null;
    }

    // Mostly it is that of the account, and the shard need not be computed.
    private void Note(string streamId, long incarnation, Entry? entry)
    {
        if (incarnation > (entry?.Account ?? _opened).Incarnation)
        {
            ref var highest = ref _incarnations[entry?.Shard ?? Shard.Of(streamId)];
            highest = Math.Max(highest, incarnation);
        }
    }

    private bool IsFormer(Entry entry) => entry.Account.Incarnation < _incarnations[entry.Shard];

    // The account may have had events before this one, and may be dropped between the two: nothing is known of it.
    private bool LetPass(string streamId)
    {
        _reads.ForEach(read => read.Remove(streamId));
        return IsFull && !_waiters.ContainsKey(streamId);
    }

    /// <summary>Whether an event at the known version has the same contents as the one that led to that version;
    /// if not, marks the account as in doubt.</summary>
    private static bool Repeats(Event recorded, Entry entry)
    {
        // An account from the store has no fingerprint: only the balance that the event states can be compared.
        var same = entry.Fingerprint != 0
            ? entry.Fingerprint == Fingerprint(recorded.ToFact(), recorded.Balance)
            : recorded.Balance is { } balance && balance.ToDecimal() == entry.Account.Balance;
        entry.IsInDoubt |= !same;
        return same;
    }

    // A hash of the event's contents; never 0.
    private static int Fingerprint(AccountEvent? fact, Money? balance) =>
        HashCode.Combine(fact, balance) is not 0 and var hash ? hash : 1;

    // An account from the store, unless the known one is as new and not in doubt.
    private void Put(string streamId, Account account)
    {
        _accounts.TryGet(streamId, out var entry);
        var known = entry?.Account ?? _opened;
        Note(streamId, account.Incarnation, entry);
        if (entry is null ? account.Version > 0
            : account.Incarnation != known.Incarnation ? account.Incarnation > known.Incarnation
            : account.Version > known.Version || entry.IsInDoubt)
        {
            Set(streamId, entry, account, fingerprint: 0);
        }
    }

    private void Set(string streamId, Entry? entry, Account account, int fingerprint)
    {
        if (account.Currency is { } currency && Shared(currency) is var shared && !ReferenceEquals(shared, currency))
        {
            account = account with { Currency = shared };
        }
        if (entry is not null)
        {
            (entry.Account, entry.Fingerprint, entry.IsInDoubt) = (account, fingerprint, false);
        }
        else
        {
            _count++;
            BackendMetrics.ViewAccounts.Add(1);
            _accounts.AddOrUpdate(
                streamId, new Entry { Account = account, Fingerprint = fingerprint, Shard = (byte)Shard.Of(streamId) });
        }
        if (_waiters.Count > 0 && _waiters.TryGetValue(streamId, out var waiters))
        {
            Complete(streamId, waiters, account.Version);
        }
    }

    // Called while an account is added, and when all are forgotten. What is being read of it may be older than
    // what was dropped.
    private void Drop(string streamId)
    {
        _count--;
        BackendMetrics.ViewAccounts.Add(-1);
        (_hasDropped, _isComplete) = (true, false);
        _reads.ForEach(read => read.Remove(streamId));
    }

    private string Shared(string currency)
    {
        if (_currencies.Count == CurrenciesMax)
        {
            return _currencies.GetValueOrDefault(currency, currency);
        }
        ref var shared = ref CollectionsMarshal.GetValueRefOrAddDefault(_currencies, currency, out _);
        return shared ??= currency;
    }

    private void Complete(string streamId, List<Waiter> waiters, long version)
    {
        for (var i = waiters.Count - 1; i >= 0; i--)
        {
            if (waiters[i].Version <= version)
            {
                waiters[i].End(true);
                waiters.RemoveAt(i);
            }
        }
        if (waiters.Count == 0)
        {
            _waiters.Remove(streamId);
        }
    }

    private void TimeOut(string streamId, Waiter waiter)
    {
        lock (_gate)
        {
            if (_waiters.TryGetValue(streamId, out var waiters) && waiters.Remove(waiter) && waiters.Count == 0)
            {
                _waiters.Remove(streamId);
            }
        }
        waiter.End(false);
    }

    private sealed class Entry
    {
        public required Account Account { get; set; }

        /// <summary>The hash of the event that led to the account; 0 if the account came
        /// from the event store.</summary>
        public int Fingerprint { get; set; }

        /// <summary>The account's shard.</summary>
        public required byte Shard { get; init; }

        /// <summary>Whether two events claimed the account's version.</summary>
        public bool IsInDoubt { get; set; }
    }

    // Continuations run asynchronously: the thread that applies an event must not run the work that waited for it.
    private sealed class Waiter(long version)
        : TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously)
    {
        public long Version => version;

        public ITimer? Bound { get; set; }

        public void End(bool reached)
        {
            TrySetResult(reached);
            Bound?.Dispose();
        }
    }
}
