using System.Runtime.InteropServices;
using Billing.Driver;
using Billing.V1;

namespace Billing.Auditing;

/// <summary>Every transaction by its id, with its sources: events, receipts and journals. Events and receipts are read
/// concurrently, and the second of the two is compared with the first, so that a transaction is only kept once. Thread-safe.
/// </summary>
internal sealed class TransactionLedger
{
    private const int ShardCount = 16;

    private readonly Findings _unbalanced;
    private readonly RealTimeOrder _order;
    private readonly Dictionary<Guid, Entry>[] _shards;

    /// <param name="expected">The approximate number of transactions.</param>
    /// <param name="unbalanced">Receives the differences between sources.</param>
    /// <param name="order">Receives the times of the payments that are recorded.</param>
    public TransactionLedger(long expected, Findings unbalanced, RealTimeOrder order)
    {
        (_unbalanced, _order) = (unbalanced, order);
        var capacity = (int)Math.Min(expected / ShardCount * 21 / 20, 100_000_000);
        _shards = [.. Enumerable.Range(0, ShardCount).Select(_ => new Dictionary<Guid, Entry>(capacity))];
    }

    /// <summary>Acknowledged payments without an event.</summary>
    public Findings Lost { get; } = new();

    /// <summary>Transactions with several events.</summary>
    public Findings Doubled { get; } = new();

    /// <summary>Answers that differ from the event.</summary>
    public Findings Wrong { get; } = new();

    /// <summary>Payments with an event and no entry in a journal.</summary>
    public Findings Unexplained { get; } = new();

    /// <summary>Payments with an event whose clients were told that they had failed for good.</summary>
    public Findings FailedYetRecorded { get; } = new();

    [Flags]
    private enum Sources : byte
    {
        None = 0,
        Event = 1,
        Receipt = 2,
        Answer = 4,
        NoAnswer = 8,
        EventTwice = 16,
        Failure = 32,
        AnyEntry = Answer | NoAnswer | Failure,
    }

    /// <summary>Adds the transaction of an event. Of several events with the same id the first counts.</summary>
    public void AddEvent(Guid id, in Transaction transaction)
    {
        var shard = Shard(id);
        lock (shard)
        {
            ref var entry = ref CollectionsMarshal.GetValueRefOrAddDefault(shard, id, out _);
            if (entry.Has(Sources.Event))
            {
                if (!entry.Has(Sources.EventTwice))
                {
                    Doubled.Add($"{id}: {entry.Transaction}; and again as {transaction}");
                }
                entry.Sources |= Sources.EventTwice;
                return;
            }
            if (entry.Has(Sources.Receipt) && entry.Transaction != transaction)
            {
                Differ(id, entry.Transaction, transaction);
            }
            entry.Transaction = transaction;
            entry.Sources |= Sources.Event;
        }
    }

    /// <summary>Adds the transaction of a receipt.</summary>
    public void AddReceipt(Guid id, in Transaction transaction)
    {
        var shard = Shard(id);
        lock (shard)
        {
            ref var entry = ref CollectionsMarshal.GetValueRefOrAddDefault(shard, id, out _);
            if (entry.Has(Sources.Receipt))
            {
                _unbalanced.Add($"{id}: two receipts");
            }
            if (!entry.Has(Sources.Event))
            {
                entry.Transaction = transaction;
            }
            else if (entry.Transaction != transaction)
            {
                Differ(id, transaction, entry.Transaction);
            }
            entry.Sources |= Sources.Receipt;
        }
    }

    /// <summary>Adds the journal entry of a payment. Call this after all events are added.</summary>
    public void AddAnswer(in JournalEntry answer)
    {
        var shard = Shard(answer.TransactionId);
        lock (shard)
        {
            ref var entry = ref CollectionsMarshal.GetValueRefOrAddDefault(shard, answer.TransactionId, out _);
            var source = answer.Outcome switch
            {
                PaymentOutcome.Unspecified => Sources.NoAnswer,
                PaymentOutcome.Failed => Sources.Failure,
                _ => Sources.Answer,
            };
            if (entry.Has(Sources.Event))
            {
                // A payment may fail because another one has its id.
                if (source == Sources.Failure && !entry.Transaction.Agrees(answer))
                {
                    return;
                }
                Compare(answer, entry.Transaction);
                _order.Add(entry.Transaction.StreamId, entry.Transaction.Version, answer.Span, isAnswered: source == Sources.Answer);
            }
            else if (source == Sources.Answer && !entry.Has(Sources.Answer))
            {
                Lost.Add($"{answer}");
            }
            entry.Sources |= source;
        }
    }

    /// <summary>Finds what can only be found after everything is added: events without receipts and receipts without events, events of
    /// failed payments, and events of payments that are in no journal.</summary>
    /// <param name="journalsAreComplete">Whether the journals hold every payment.</param>
    /// <returns>The counts.</returns>
    public TransactionCounts Conclude(bool journalsAreComplete)
    {
        var counts = default(TransactionCounts);
        foreach (var (id, entry) in _shards.SelectMany(shard => shard))
        {
            var recorded = entry.Has(Sources.Event) ? 1 : 0;
            if (entry.Has(Sources.Event) != entry.Has(Sources.Receipt))
            {
                Unmatched(id, entry);
            }
            if (entry.Has(Sources.Answer))
            {
                counts.Acknowledged++;
                counts.Recorded += recorded;
            }
            else if (entry.Has(Sources.NoAnswer))
            {
                counts.Unanswered++;
                counts.UnansweredRecorded += recorded;
            }
            else if (entry.Has(Sources.Failure) && recorded > 0)
            {
                FailedYetRecorded.Add($"{id}: answered as failed for good; recorded {entry.Transaction}");
            }
            if (journalsAreComplete && recorded > 0 && !entry.Has(Sources.AnyEntry) && entry.Transaction.IsPayment)
            {
                Unexplained.Add($"{id}: in no journal; recorded {entry.Transaction}");
            }
        }
        return counts;
    }

    private Dictionary<Guid, Entry> Shard(Guid id) => _shards[(uint)id.GetHashCode() % ShardCount];

    private void Compare(in JournalEntry answer, in Transaction recorded)
    {
        if (!recorded.Agrees(answer))
        {
            Wrong.Add($"answered {answer}; recorded {recorded}");
        }
        else if (answer.Balance is { } balance && balance != recorded.Balance)
        {
            _unbalanced.Add($"{answer.TransactionId}: answered balance {balance}; the events up to {recorded.StreamId} version {recorded.Version} sum up to {recorded.Balance}");
        }
    }

    private void Differ(Guid id, in Transaction receipt, in Transaction recorded) =>
        _unbalanced.Add($"{id}: the receipt has {receipt}; the events have {recorded}");

    private void Unmatched(Guid id, in Entry entry)
    {
        if (entry.Has(Sources.Event))
        {
            _unbalanced.Add($"{id}: no receipt for {entry.Transaction}");
        }
        else
        {
            _unbalanced.Add($"{id}: a receipt without an event: {entry.Transaction}");
        }
    }

    private struct Entry
    {
        public Transaction Transaction;
        public Sources Sources;

        public readonly bool Has(Sources source) => (Sources & source) != 0;
    }
}

/// <summary>Numbers of payments in the journals with and without an answer, and how many of each are in the store.</summary>
internal record struct TransactionCounts(long Acknowledged, long Recorded, long Unanswered, long UnansweredRecorded);
