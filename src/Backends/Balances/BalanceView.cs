using System.Runtime.InteropServices;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Telemetry;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Backends.Balances;

/// <summary>All accounts, each as of its last known event. Events may arrive more than once: an event at or below the account's
/// version is ignored, the next one is applied, and one that skips a version is reported as a gap, so that the caller
/// reloads the account from the event store. An event that repeats the account's version with different contents is reported
/// too: one of the two is not from a backend, and until it is reloaded the account takes no further events. An account takes
/// about 170 bytes: 64 for its state, 22 plus two per character for its stream id, 36 for its place in the hash table, which
/// may be up to half empty. Thread-safe.</summary>
internal sealed class BalanceView(Account opened, TimeProvider time)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Entry> _accounts = new(StringComparer.Ordinal);
    private readonly Dictionary<string, List<Waiter>> _waiters = new(StringComparer.Ordinal);

    // Accounts share the few currencies there are, instead of each keeping the copy that came with its first event.
    private readonly Dictionary<string, string> _currencies = new(StringComparer.Ordinal);

    /// <summary>Number of accounts with events.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _accounts.Count;
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

    public Account Get(string streamId)
    {
        lock (_gate)
        {
            return Known(streamId);
        }
    }

    /// <summary>Applies published events.</summary>
    /// <returns>The streams of the accounts that need to be reloaded from the event store, without duplicates: an event is
    /// missing, contradicts a known one, or does not lead to the balance that it states.</returns>
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

    /// <summary>Applies one event read from the event store.</summary>
    /// <returns>False if an event before it is missing.</returns>
    public bool Apply(string streamId, long version, AccountEvent fact)
    {
        lock (_gate)
        {
            var known = Known(streamId);
            if (version == known.Version + 1)
            {
                Set(streamId, new Entry(known.Apply(fact)));
            }
            return version <= known.Version + 1;
        }
    }

    /// <summary>Replaces an account by the one read from the event store, unless the known one is as new and not in doubt.
    /// </summary>
    public void Put(string streamId, Account account)
    {
        lock (_gate)
        {
            if (account.Version > Known(streamId).Version || IsInDoubt(streamId))
            {
                Set(streamId, new Entry(account));
            }
        }
    }

    /// <summary>Waits until an account has reached a version.</summary>
    /// <returns>Whether it has; false on timeout.</returns>
    public Task<bool> WaitAsync(string streamId, long version, TimeSpan atMost)
    {
        lock (_gate)
        {
            if (Known(streamId).Version >= version || atMost <= TimeSpan.Zero)
            {
                return Task.FromResult(Known(streamId).Version >= version);
            }
            var waiter = new Waiter(version);
            ref var waiters = ref CollectionsMarshal.GetValueRefOrAddDefault(_waiters, streamId, out _);
            (waiters ??= []).Add(waiter);
            waiter.Bound = time.CreateTimer(_ => TimeOut(streamId, waiter), null, atMost, Timeout.InfiniteTimeSpan);
            return waiter.Task;
        }
    }

    private bool TryApply(Event recorded)
    {
        lock (_gate)
        {
            var known = Known(recorded.StreamId);
            if (recorded.Version < known.Version)
            {
                return true;
            }
            if (recorded.Version == known.Version)
            {
                return Repeats(recorded, known);
            }
            if (recorded.Version != known.Version + 1 || IsInDoubt(recorded.StreamId) || recorded.ToFact() is not { } fact)
            {
                return false;
            }
            // Anyone who may write to the topic can forge an event; at least one that does not fit the account is not applied.
            var after = known.Apply(fact);
            if (recorded.Balance is null || recorded.Balance.ToDecimal() != after.Balance)
            {
                return false;
            }
            Set(recorded.StreamId, new Entry(after, Fingerprint(fact, recorded.Balance)));
            return true;
        }
    }

    /// <summary>Whether an event at the known version has the same contents as the one that led to that version; if not, marks
    /// the account as in doubt.</summary>
    private bool Repeats(Event recorded, Account known)
    {
        ref var entry = ref CollectionsMarshal.GetValueRefOrNullRef(_accounts, recorded.StreamId);
        // An account from the store has no fingerprint: only the balance that the event states can be compared.
        var same = entry.Fingerprint != 0
            ? entry.Fingerprint == Fingerprint(recorded.ToFact(), recorded.Balance)
            : recorded.Balance is { } balance && balance.ToDecimal() == known.Balance;
        entry.IsInDoubt |= !same;
        return same;
    }

    // A hash of the event's contents; never 0.
    private static int Fingerprint(AccountEvent? fact, Money? balance) => HashCode.Combine(fact, balance) is not 0 and var hash ? hash : 1;

    private bool IsInDoubt(string streamId) => _accounts.TryGetValue(streamId, out var entry) && entry.IsInDoubt;

    private Account Known(string streamId) => _accounts.TryGetValue(streamId, out var entry) ? entry.Account : opened;

    private void Set(string streamId, Entry entry)
    {
        ref var known = ref CollectionsMarshal.GetValueRefOrAddDefault(_accounts, streamId, out var isKnown);
        if (!isKnown)
        {
            BackendMetrics.ViewAccounts.Add(1);
        }
        var account = entry.Account.Currency is { } currency && !ReferenceEquals(currency, known.Account?.Currency)
            ? entry.Account with { Currency = Shared(currency) }
            : entry.Account;
        known = entry with { Account = account };
        if (_waiters.Count > 0 && _waiters.TryGetValue(streamId, out var waiters))
        {
            Complete(streamId, waiters, account.Version);
        }
    }

    private string Shared(string currency)
    {
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

    /// <summary>The fingerprint is the hash of the event that led to the account; 0 if the account came from the event store.</summary>
    private record struct Entry(Account Account, int Fingerprint = 0)
    {
        /// <summary>Whether two events claimed the account's version.</summary>
        public bool IsInDoubt { get; set; }
    }

    // Continuations run asynchronously: the thread that applies an event must not run the work that waited for it.
    private sealed class Waiter(long version) : TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously)
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
