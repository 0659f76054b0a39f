namespace Billing.Auditing;

/// <summary>Computes every account from its events as they are read, and checks each event against the account before
/// it. Not thread-safe.</summary>
/// <param name="openingLimits">The credit limit of an account before one is set, by its currency: zero in a currency
/// that is not listed. Null if unknown.</param>
/// <param name="transactions">Receives the transaction of each event.</param>
/// <param name="told">The balances that clients received, which are compared with the computed ones.</param>
/// <param name="unbalanced">Receives the statements of events that differ from the computed account.</param>
internal sealed class AccountLedger(
    IReadOnlyDictionary<string, decimal>? openingLimits, TransactionLedger transactions, AnsweredBalances told,
    Findings unbalanced)
{
    private readonly Dictionary<string, Fold> _folds = new(StringComparer.Ordinal);

    /// <summary>Missing and duplicate versions of streams.</summary>
    public Findings Holes { get; } = new();

    /// <summary>Events that violate the rules: payments accepted or declined wrongly, or declined for
    /// the wrong reason.</summary>
    public Findings Misjudged { get; } = new();

    /// <summary>Number of accounts.</summary>
    public int Count => _folds.Count;

    /// <summary>The accounts as of their last events. Call this after <see cref="Conclude"/>.</summary>
    public IEnumerable<(string StreamId, long Version, decimal Balance)> Accounts =>
        _folds.Where(f => f.Value.Last > 0).Select(f => (f.Key, f.Value.Last, f.Value.Account.Balance));

    /// <summary>Adds a stream with its version in <c>mt_streams</c>.</summary>
    public void AddStream(string streamId, long version) => Of(streamId).StreamVersion = version;

    /// <summary>Adds a payment that the store lists as being on hold.</summary>
    public void AddHold(string streamId, Guid paymentId) => (Of(streamId).Holds ??= []).Add(paymentId);

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
        while (fold.Early is { } early && early.TryPeek(out var next, out var nextVersion)
            && nextVersion <= fold.Last + 1)
        {
            early.Dequeue();
            Apply(fold, nextVersion, next);
        }
    }

    /// <summary>Applies the events after missing versions, and finds streams whose versions do not match the
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
                Holes.Add(
                    $"{fold.StreamId}: mt_streams has version "
                    + $"{(fold.StreamVersion is { } version ? version : "none")}, the last event is "
                    + $"version {fold.Last}");
            }
            if (!fold.IsUnsure)
            {
                CompareHolds(fold);
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
            FollowUp(fold, version, fact);
            // The account's currency, so that not every transaction keeps a string of its own.
            var shared = fact.Currency == fold.Account.Currency ? fact with { Currency = fold.Account.Currency } : fact;
            transactions.AddEvent(
                fact.TransactionId, Transaction.Of(fold.StreamId, version, shared, fold.Account.Balance));
        }
        told.Pass(fold.StreamId, version, fold.Account.Balance);
    }

    private void Judge(Fold fold, long version, StoredFact fact)
    {
        if (!fold.IsUnsure && fold.Account.Fault(fact, openingLimits) is { } fault)
        {
            Misjudged.Add(
                $"{fold.StreamId} version {version}: {fault}; {fact.TransactionId}, {fact.Kind} {fact.Currency} "
                + $"{fact.Amount}");
        }
    }

    // Where events are missing, the payment may be among them.
    private void FollowUp(Fold fold, long version, StoredFact fact)
    {
        if (fact.Kind == TransactionKind.Authorised)
        {
            (fold.Payments ??= [])[fact.TransactionId] = new PaymentTotals(0, 0, fact.Amount);
        }
        if (fact.Payment is not var (id, stated) || fold.IsUnsure)
        {
            return;
        }
        var payment = transactions.Find(id, fold.StreamId);
        var isCharged = payment is { Kind: TransactionKind.Accepted };
        if ((!isCharged && payment is not { Kind: TransactionKind.Authorised })
            || payment!.Value.Currency != fact.Currency)
        {
            Misjudged.Add(
                $"{fold.StreamId} version {version}: {fact.Kind} of {id} in {fact.Currency}, which is "
                + $"{(payment is { } other ? $"{other}" : "not there")}");
            return;
        }
        var before = (fold.Payments ??= [])
            .GetValueOrDefault(id, new PaymentTotals(isCharged ? payment.Value.Amount : 0, 0, 0));
        var after = fold.Payments[id] = before.After(fact);
        if (!after.Allow(fact))
        {
            Misjudged.Add(
                $"{fold.StreamId} version {version}: {fact.Kind} of {fact.Amount} leads from {before} "
                + $"to {after} of {id}");
        }
        else if (stated != after)
        {
            unbalanced.Add($"{fold.StreamId} version {version} states {stated} of {id}; it is {after}");
        }
    }

    // What is on hold and not listed would never expire.
    private void CompareHolds(Fold fold)
    {
        var held = fold.Payments?.Where(payment => payment.Value.Held > 0).Select(payment => payment.Key).ToHashSet()
            ?? [];
        var listed = fold.Holds ?? [];
        foreach (var id in held.Except(listed))
        {
            unbalanced.Add($"{fold.StreamId}: {id} is on hold and not among the open holds");
        }
        foreach (var id in listed.Except(held))
        {
            unbalanced.Add($"{fold.StreamId}: {id} is among the open holds and not on hold");
        }
    }

    private void CompareStated(Fold fold, long version, StoredFact fact)
    {
        if (fact.Balance != fold.Account.Balance)
        {
            var sum = fold.Account.Balance;
            unbalanced.Add(
                $"{fold.StreamId} version {version} states the balance {fact.Balance}; "
                + $"the events up to it sum up to {sum}");
        }
        if (fact.OnHold != fold.Account.OnHold)
        {
            unbalanced.Add(
                $"{fold.StreamId} version {version} states that {fact.OnHold} is on hold; "
                + $"the events up to it leave {fold.Account.OnHold}");
        }
        if (fact.Status != fold.Account.Status)
        {
            unbalanced.Add(
                $"{fold.StreamId} version {version} states the status {fact.Status}; "
                + $"the events up to it leave {fold.Account.Status}");
        }
        if (fact.StatesCurrency && fact.KeptIn != fold.Account.Currency)
        {
            unbalanced.Add(
                $"{fold.StreamId} version {version} states that the account is kept in '{fact.KeptIn}'; "
                + $"it is '{fold.Account.Currency}'");
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
            fold = new Fold { StreamId = streamId, Account = new AuditedAccount(0, null, null) };
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

        /// <summary>Whether an event is missing, duplicate or cannot be read, so that later events
        /// cannot be judged.</summary>
        public bool IsUnsure { get; set; }

        /// <summary>What has become of the payments that were authorised or followed up.</summary>
        public Dictionary<Guid, PaymentTotals>? Payments { get; set; }

        /// <summary>The payments that the store lists as being on hold.</summary>
        public HashSet<Guid>? Holds { get; set; }

        /// <summary>Events that were added before earlier ones of the stream, by version.</summary>
        public PriorityQueue<StoredFact?, long>? Early { get; set; }
    }
}
