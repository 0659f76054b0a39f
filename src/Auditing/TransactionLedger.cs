using System.Runtime.InteropServices;
using Billing.Journals;

namespace Billing.Auditing;

/// <summary>Every transaction by its id and account, with its sources: events and journals. Not thread-safe.</summary>
internal sealed class TransactionLedger
{
    private readonly Findings _unbalanced;
    private readonly RealTimeOrder _order;
    private readonly Dictionary<(Guid Id, string StreamId), Entry> _entries;

    /// <param name="expected">The approximate number of transactions.</param>
    /// <param name="unbalanced">Receives the differences between sources.</param>
    /// <param name="order">Receives the times of the payments that are recorded.</param>
    public TransactionLedger(long expected, Findings unbalanced, RealTimeOrder order)
    {
        (_unbalanced, _order) = (unbalanced, order);
        _entries = new((int)Math.Min(expected * 21 / 20, 1_000_000_000));
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
        Answer = 2,
        NoAnswer = 4,
        EventTwice = 8,
        Failure = 16,
        AnyEntry = Answer | NoAnswer | Failure,
    }

    /// <summary>Adds the transaction of an event. Of several events with the same id the first counts.</summary>
    public void AddEvent(Guid id, in Transaction transaction)
    {
        ref var entry = ref CollectionsMarshal.GetValueRefOrAddDefault(_entries, (id, transaction.StreamId), out _);
        if (!entry.Has(Sources.Event))
        {
            entry.Transaction = transaction;
            entry.Sources |= Sources.Event;
        }
        else if (!entry.Has(Sources.EventTwice))
        {
            Doubled.Add($"{id}: {entry.Transaction}; and again as {transaction}");
            entry.Sources |= Sources.EventTwice;
        }
    }

    /// <summary>The transaction of an event that was added; null if there is none.</summary>
    public Transaction? Find(Guid id, string streamId) =>
        _entries.TryGetValue((id, streamId), out var entry) && entry.Has(Sources.Event) ? entry.Transaction : null;

    /// <summary>Adds the journal entry of a payment. Call this after all events are added.</summary>
    public void AddAnswer(in JournalEntry answer)
    {
        ref var entry = ref CollectionsMarshal.GetValueRefOrAddDefault(
            _entries, (answer.TransactionId, answer.StreamId), out _);
        var source = answer.Outcome switch
        {
            PaymentFate.Unknown => Sources.NoAnswer,
            PaymentFate.Failed => Sources.Failure,
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
            _order.Add(
                entry.Transaction.StreamId, entry.Transaction.Version,
                answer.Span, isAnswered: source == Sources.Answer);
        }
        else if (source == Sources.Answer && !entry.Has(Sources.Answer))
        {
            Lost.Add($"{answer}");
        }
        entry.Sources |= source;
    }

    /// <summary>Finds what can only be found after everything is added: events of failed payments, and events of
    /// payments that are in no journal.</summary>
    /// <param name="journalsAreComplete">Whether the journals hold every payment.</param>
    /// <returns>The counts.</returns>
    public TransactionCounts Conclude(bool journalsAreComplete)
    {
        var counts = default(TransactionCounts);
        foreach (var ((id, _), entry) in _entries)
        {
            var recorded = entry.Has(Sources.Event) ? 1 : 0;
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

    private void Compare(in JournalEntry answer, in Transaction recorded)
    {
        if (!recorded.Agrees(answer))
        {
            Wrong.Add($"answered {answer}; recorded {recorded}");
        }
        else if (answer.Balance is { } balance && balance != recorded.Balance)
        {
            _unbalanced.Add(
                $"{answer.TransactionId}: answered balance {balance}; "
                + $"the events up to {recorded.StreamId} version {recorded.Version} sum up to {recorded.Balance}");
        }
    }

    private struct Entry
    {
        public Transaction Transaction;
        public Sources Sources;

        public readonly bool Has(Sources source) => (Sources & source) != 0;
    }
}

/// <summary>Numbers of payments in the journals with and without an answer, and how many of each
/// are in the store.</summary>
internal record struct TransactionCounts(long Acknowledged, long Recorded, long Unanswered, long UnansweredRecorded);
