using Billing.Auditing;
using Billing.Journals;
using Billing.UnitTests.Testing;
using Billing.V1;

namespace Billing.UnitTests.Auditing;

public sealed class TransactionLedgerTests
{
    private const string Stream = "visa/a";
    private static readonly Guid Id = Guid.Parse(Samples.TransactionId);

    private static readonly JournalEntry Failure = new(
        Id, Stream, "USD", 1.25m, PaymentFate.Failed, 0, Balance: null, DeclineReason.Unspecified, new CallSpan(1, 2));

    private static readonly JournalEntry NoAnswer = Failure with { Outcome = PaymentFate.Unknown };

    private static readonly JournalEntry Answer =
        Failure with { Outcome = PaymentFate.Accepted, Version = 1, Balance = 1.25m };

    private readonly Findings _unbalanced = new();
    private readonly TransactionLedger _ledger;

    public TransactionLedgerTests() =>
        _ledger = new TransactionLedger(0, _unbalanced, new RealTimeOrder(TimeSpan.Zero));

    [Fact]
    public void A_payment_that_failed_for_good_must_not_be_recorded()
    {
        Record();
        _ledger.AddAnswer(Failure);

        _ledger.Conclude(journalsAreComplete: true);

        Assert.Equal(
            $"{Id}: answered as failed for good; recorded visa/a version 1: Accepted USD 1.25, balance 1.25",
            Assert.Single(_ledger.FailedYetRecorded));
        Assert.Empty(_ledger.Wrong);
        Assert.Empty(_ledger.Unexplained);
    }

    [Fact]
    public void A_payment_that_failed_may_be_recorded_by_another_attempt()
    {
        Record();
        _ledger.AddAnswer(Failure);
        _ledger.AddAnswer(Answer);

        _ledger.Conclude(journalsAreComplete: true);

        Assert.Empty(_ledger.FailedYetRecorded);
    }

    [Fact]
    public void A_payment_that_failed_because_another_has_its_id_is_not_that_payment()
    {
        Record();
        _ledger.AddAnswer(Answer);
        _ledger.AddAnswer(Failure with { Amount = 2 });

        var counts = _ledger.Conclude(journalsAreComplete: true);

        Assert.Empty(_ledger.FailedYetRecorded);
        Assert.Empty(_ledger.Wrong);
        Assert.Equal(new TransactionCounts(1, 1, 0, 0), counts);
    }

    [Fact]
    public void A_failed_payment_without_an_event_is_no_fault()
    {
        _ledger.AddAnswer(Failure);

        var counts = _ledger.Conclude(journalsAreComplete: true);

        Assert.Empty(_ledger.Lost);
        Assert.Empty(_ledger.FailedYetRecorded);
        Assert.Equal(default, counts);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_event_in_no_journal_is_a_fault_if_the_journals_are_complete(bool areComplete)
    {
        Record();

        _ledger.Conclude(areComplete);

        Assert.Equal(
            areComplete ? $"{Id}: in no journal; recorded visa/a version 1: Accepted USD 1.25, balance 1.25" : "",
            string.Join("", _ledger.Unexplained));
    }

    [Fact]
    public void Payments_with_and_without_an_answer_and_credit_limits_are_explained()
    {
        Record();
        _ledger.AddAnswer(NoAnswer);
        Record(new Transaction(Stream, 2, TransactionKind.LimitChanged, "USD", 5, 1.25m), Guid.NewGuid());

        _ledger.Conclude(journalsAreComplete: true);

        Assert.Empty(_ledger.Unexplained);
    }

    [Fact]
    public void The_times_of_answered_and_unanswered_payments_are_compared_with_their_versions()
    {
        var order = new RealTimeOrder(TimeSpan.Zero);
        var ledger = new TransactionLedger(0, _unbalanced, order);
        var earlier = Guid.NewGuid();
        ledger.AddEvent(earlier, new Transaction(Stream, 1, TransactionKind.Accepted, "USD", 1.25m, 1.25m));
        ledger.AddEvent(Id, new Transaction(Stream, 2, TransactionKind.Accepted, "USD", 1.25m, 2.5m));
        ledger.AddAnswer(Answer with { Version = 2, Balance = 2.5m, Span = new CallSpan(10, 20) });
        ledger.AddAnswer(NoAnswer with { TransactionId = earlier, Span = new CallSpan(21, 30) });

        order.Conclude();

        Assert.Equal(
            "visa/a: the payment of version 1 was sent 1 us after an answer had shown version 2",
            Assert.Single(order.Reordered));
    }

    [Fact]
    public void One_id_of_two_accounts_is_two_transactions()
    {
        Record();
        Record(new Transaction("amex/a", 1, TransactionKind.Accepted, "USD", 1.25m, 1.25m), Id);
        _ledger.AddAnswer(Answer with { StreamId = "amex/b" });

        Assert.Empty(_ledger.Doubled);
        Assert.Contains("amex/b", Assert.Single(_ledger.Lost), StringComparison.Ordinal);
    }

    private void Record() => Record(new Transaction(Stream, 1, TransactionKind.Accepted, "USD", 1.25m, 1.25m), Id);

    private void Record(Transaction transaction, Guid id) => _ledger.AddEvent(id, transaction);
}
