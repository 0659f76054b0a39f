namespace Billing.Auditing;

/// <summary>Computes every account from its events as they are read, checks each event against the account before it, and
/// compares the account with its snapshot at the snapshot's version. Not thread-safe.</summary>
/// <param name="openingLimit">The credit limit of an account before one is set; null if unknown.</param>
/// <param name="transactions">Receives the transaction of each event.</param>
/// <param name="told">The balances that clients received, which are compared with the computed ones.</param>
/// <param name="unbalanced">Receives the snapshots, and the statements of events, that differ from the computed account.</param>
internal sealed class AccountLedger(decimal? openingLimit, TransactionLedger transactions, AnsweredBalances told, Findings unbalanced)
{
    private readonly Dictionary<string, Fold> _folds = new(StringComparer.Ordinal);

    /// <summary>Missing and duplicate versions of streams.</summary>
    public Findings Holes { get; } = new();

    /// <summary>Events that violate the rules: payments accepted or declined wrongly, or declined for the wrong reason.</summary>
    public Findings Misjudged { get; } = new();

    /// <summary>Number of accounts.</summary>
    public int Count => _folds.Count;

    /// <summary>The accounts as of their last events. Call this after <see cref="Conclude"/>.</summary>
    public IEnumerable<(string StreamId, long Version, decimal Balance)> Accounts =>
        _folds.Where(f => f.Value.Last > 0).Select(f => (f.Key, f.Value.Last, f.Value.Account.Balance));

    /// <summary>Adds a stream with its version in <c>mt_streams</c>.</summary>
    public void AddStream(string streamId, long version) => Of(streamId).StreamVersion = version;

    /// <summary>Adds a snapshot. Call this before the events are added.</summary>
    public void AddSnapshot(string streamId, StoredSnapshot snapshot) => Of(streamId).Snapshot = snapshot;

    /// <summary>Adds an event. The events of a stream may be added in any order.</summary>
    /// <param name="streamId">Its stream.</param>
    /// <param name="version">Its version.</param>
    /// <param name="fact">The event; null if it cannot be read.</param>
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

    /// <summary>Applies the events after missing versions, and finds streams and snapshots whose versions do not match the
    /// events. Call this after all events are added.</summary>
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
            if ((fold.StreamVersion ?? 0) != fold.Last)
            {
                Holes.Add($"{fold.StreamId}: mt_streams has version {(fold.StreamVersion is { } version ? version : "none")}, the last event is version {fold.Last}");
            }
            if (fold.Snapshot is { } snapshot)
            {
                unbalanced.Add($"{fold.StreamId}: a snapshot of version {snapshot.Version}, but no event has this version");
            }
        }
        told.Conclude();
    }

    private void Apply(Fold fold, long version, StoredFact? fact)
    {
        if (version <= fold.Last)
        {
            Holes.Add($"{fold.StreamId}: version {version} is duplicated");
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
            CompareStated(fold, version, fact);
            Refund(fold, version, fact);
            fold.HasLimit |= fact.Kind == TransactionKind.LimitChanged;
            if (fact.TransactionId != Guid.Empty)
            {
                // The account's currency, so that not every transaction keeps a string of its own.
                var shared = fact.Currency == fold.Account.Currency ? fact with { Currency = fold.Account.Currency } : fact;
                transactions.AddEvent(fact.TransactionId, Transaction.Of(fold.StreamId, version, shared, fold.Account.Balance));
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

    // Where events are missing, the payment may be among them.
    private void Refund(Fold fold, long version, StoredFact fact)
    {
        if (fact.Payment is not { } stated || fold.IsUnsure)
        {
            return;
        }
        var payment = transactions.Find(stated.Id, fold.StreamId);
        var total = (fold.Refunded ??= []).GetValueOrDefault(stated.Id) + fact.Amount;
        fold.Refunded[stated.Id] = total;
        if (payment is not { Kind: TransactionKind.Accepted } || payment.Value.Currency != fact.Currency)
        {
            Misjudged.Add($"{fold.StreamId} version {version}: a refund of {stated.Id} in {fact.Currency}, which is {(payment is { } other ? $"{other}" : "not there")}");
        }
        else if (total > payment.Value.Amount)
        {
            Misjudged.Add($"{fold.StreamId} version {version}: refunds of {total} of the payment {stated.Id} of {payment.Value.Amount}");
        }
        else if (stated != (stated.Id, payment.Value.Amount, total))
        {
            unbalanced.Add($"{fold.StreamId} version {version} states that {stated.Refunded} of {stated.Charged} of {stated.Id} are given back; it is {total} of {payment.Value.Amount}");
        }
    }

    private void CompareStated(Fold fold, long version, StoredFact fact)
    {
        if (fact.Balance is { } stated && stated != fold.Account.Balance)
        {
            unbalanced.Add($"{fold.StreamId} version {version} states the balance {stated}; the events up to it sum up to {fold.Account.Balance}");
        }
        if (fact is { Kind: TransactionKind.Declined, Balance: not null } && fact.KeptIn != fold.Account.Currency)
        {
            unbalanced.Add($"{fold.StreamId} version {version} states that the account is kept in '{fact.KeptIn}'; it is '{fold.Account.Currency}'");
        }
    }

    private void Compare(Fold fold, StoredSnapshot snapshot)
    {
        // The limit before one is set is a setting of the backends, which is not in the store.
        if (snapshot.Balance != fold.Account.Balance || snapshot.Currency != fold.Account.Currency
            || (fold.HasLimit && snapshot.Limit != fold.Account.Limit))
        {
            unbalanced.Add($"{fold.StreamId}: the snapshot of version {snapshot.Version} has balance {snapshot.Balance} {snapshot.Currency}, limit {snapshot.Limit}; the events give balance {fold.Account.Balance} {fold.Account.Currency}, limit {fold.Account.Limit}");
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
        public long? StreamVersion { get; set; }
        public bool HasLimit { get; set; }

        /// <summary>Whether an event is missing, duplicate or cannot be read, so that later events cannot be judged.</summary>
        public bool IsUnsure { get; set; }

        public StoredSnapshot? Snapshot { get; set; }

        /// <summary>What has been given back of the payments with refunds.</summary>
        public Dictionary<Guid, decimal>? Refunded { get; set; }

        /// <summary>Events that were added before earlier ones of the stream, by version.</summary>
        public PriorityQueue<StoredFact?, long>? Early { get; set; }
    }
}
