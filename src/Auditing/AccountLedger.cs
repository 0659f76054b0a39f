namespace Billing.Auditing;

/// <summary>Folds every account from its events, as they come, judges each event by the account before it, and compares the
/// account with its snapshot on the way. One caller at a time.</summary>
/// <param name="openingLimit">What an account may owe before a limit is set; null where that is not known.</param>
/// <param name="transactions">Takes each event's transaction.</param>
/// <param name="told">Balances to compare on the way.</param>
/// <param name="unbalanced">Takes snapshots that differ from the fold, and events that cannot be read.</param>
internal sealed class AccountLedger(decimal? openingLimit, TransactionLedger transactions, ToldBalances told, Findings unbalanced)
{
    private readonly Dictionary<string, Fold> _folds = new(StringComparer.Ordinal);

    /// <summary>Streams whose versions do not follow one another.</summary>
    public Findings Holes { get; } = new();

    /// <summary>Events that the rules do not allow: payments accepted or declined wrongly, or for the wrong reason.</summary>
    public Findings Misjudged { get; } = new();

    /// <summary>Accounts known.</summary>
    public int Count => _folds.Count;

    /// <summary>The accounts as of their last events. Call this after <see cref="Conclude"/>.</summary>
    public IEnumerable<(string StreamId, long Version, decimal Balance)> Accounts =>
        _folds.Where(f => f.Value.Last > 0).Select(f => (f.Key, f.Value.Last, f.Value.Account.Balance));

    /// <summary>Takes the version that a stream is said to have.</summary>
    public void AddStream(string streamId, long version) => Of(streamId).Said = version;

    /// <summary>Takes a snapshot; before the events.</summary>
    public void AddSnapshot(string streamId, StoredSnapshot snapshot) => Of(streamId).Snapshot = snapshot;

    /// <summary>Takes an event.</summary>
    /// <param name="streamId">Its stream.</param>
    /// <param name="version">Its position; may come before the ones that precede it.</param>
    /// <param name="fact">The event; null where it cannot be read.</param>
    public void AddEvent(string streamId, long version, StoredFact? fact)
    {
        var fold = Of(streamId);
        if (version > fold.Last + 1)
        {
            (fold.Early ??= new()).Enqueue(fact, version);
            return;
        }
        Apply(fold, version, fact);
        while (fold.Early is { } early && early.TryPeek(out var next, out var nextVersion) && nextVersion <= fold.Last + 1)
        {
            early.Dequeue();
            Apply(fold, nextVersion, next);
        }
    }

    /// <summary>Folds what is left beyond holes, and finds what the streams and snapshots lack. Call this when all events are
    /// in.</summary>
    public void Conclude()
    {
        foreach (var fold in _folds.Values)
        {
            while (fold.Early is { } early && early.TryDequeue(out var fact, out var version))
            {
                if (version > fold.Last + 1)
                {
                    Missing(fold.StreamId, fold.Last + 1, version - 1);
                    fold.IsUnsure = true;
                }
                Apply(fold, version, fact);
            }
            if ((fold.Said ?? 0) != fold.Last)
            {
                Holes.Add($"{fold.StreamId}: mt_streams says version {(fold.Said is { } said ? said : "none")}, the last event is version {fold.Last}");
            }
            if (fold.Snapshot is { } snapshot)
            {
                unbalanced.Add($"{fold.StreamId}: a snapshot of version {snapshot.Version}, which no event has");
            }
        }
        told.Conclude();
    }

    private void Apply(Fold fold, long version, StoredFact? fact)
    {
        if (version <= fold.Last)
        {
            Holes.Add($"{fold.StreamId}: version {version} is there again");
            fold.IsUnsure = true;
        }
        fold.Last = Math.Max(fold.Last, version);
        if (fact is null)
        {
            fold.IsUnsure = true;
        }
        else
        {
            Judge(fold, version, fact);
            fold.Account = fold.Account.After(fact);
            fold.HasLimit |= fact.Kind == TransactionKind.LimitChanged;
            if (fact.TransactionId != Guid.Empty)
            {
                transactions.AddEvent(fact.TransactionId, Transaction.Of(fold.StreamId, version, fact, fold.Account.Balance));
            }
        }
        told.Pass(fold.StreamId, version, fold.Account.Balance);
        if (fold.Snapshot?.Version == version)
        {
            Compare(fold, fold.Snapshot);
            fold.Snapshot = null;
        }
    }

    private void Judge(Fold fold, long version, StoredFact fact)
    {
        if (!fold.IsUnsure && fold.Account.Fault(fact) is { } fault)
        {
            Misjudged.Add($"{fold.StreamId} version {version}: {fault}; {fact.TransactionId}, {fact.Kind} {fact.Currency} {fact.Amount}");
        }
    }

    private void Compare(Fold fold, StoredSnapshot snapshot)
    {
        // The limit before one is set is a setting of the backends, which the store does not hold.
        if (snapshot.Balance != fold.Account.Balance || snapshot.Currency != fold.Account.Currency
            || (fold.HasLimit && snapshot.Limit != fold.Account.Limit))
        {
            unbalanced.Add($"{fold.StreamId}: the snapshot of version {snapshot.Version} says balance {snapshot.Balance} {snapshot.Currency}, limit {snapshot.Limit}; the events say balance {fold.Account.Balance} {fold.Account.Currency}, limit {fold.Account.Limit}");
        }
    }

    private void Missing(string streamId, long from, long to)
    {
        if (from == to)
        {
            Holes.Add($"{streamId}: version {from} is missing");
        }
        else
        {
            Holes.Add($"{streamId}: versions {from} to {to} are missing");
        }
    }

    private Fold Of(string streamId)
    {
        if (!_folds.TryGetValue(streamId, out var fold))
        {
            fold = new Fold { StreamId = streamId, Account = new AuditedAccount(0, openingLimit, null) };
            _folds.Add(streamId, fold);
        }
        return fold;
    }

    private sealed class Fold
    {
        public required string StreamId { get; init; }
        public required AuditedAccount Account { get; set; }
        public long Last { get; set; }
        public long? Said { get; set; }
        public bool HasLimit { get; set; }

        /// <summary>Whether an event is missing, cannot be read or is there again: what follows cannot be judged.</summary>
        public bool IsUnsure { get; set; }

        public StoredSnapshot? Snapshot { get; set; }

        /// <summary>Events that came before the ones that precede them.</summary>
        public PriorityQueue<StoredFact?, long>? Early { get; set; }
    }
}
