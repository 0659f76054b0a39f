using Billing.Backends.EventStore;
using Billing.Backends.Payments.InFlight;
using Billing.Contracts;
using Billing.Messaging;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using PaymentAccepted = Billing.Backends.Domain.PaymentAccepted;

namespace Billing.UnitTests.Backends.Payments;

/// <summary>Questions what has become of payments, among the commands in flight.</summary>
public sealed class PaymentQuestionTests
{
    private static readonly PaymentNotes Order =
        new() { Reference = "order 7", Metadata = { ["shop"] = "Bern", ["aisle"] = "" } };

    private readonly CommandsInFlight _inFlight = new();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_question_about_a_payment_in_flight_gets_the_answer_of_that_payment_and_of_no_other(bool withNotes)
    {
        var notes = withNotes ? Order : null;
        var payment = Assert.Single(_inFlight.Enter(
            [
                Deliver(1, notes: notes), Ask(2, notes: notes),
                Ask(3, units: 11, notes), Ask(4, notes: withNotes ? null : Order),
            ],
            0));
        payment.Record(Accepted(10, notes));

        var replies = _inFlight.Leave([payment], 0).Answered!.Prepend(payment).SelectMany(c => c.Answers(0))
            .Select(a => a.Reply!)
            .ToDictionary(reply => reply.CorrelationId);

        Assert.Equal(PaymentOutcome.Accepted, replies[1].Payment.Outcome);
        Assert.Equal(replies[1].Payment, replies[2].PaymentStatus.Payment.AsReplay());
        Assert.All(
            [replies[3], replies[4]], reply => Assert.Equal(ErrorReasons.TransactionIdReused, reply.Error.Reason));
    }

    [Fact]
    public void A_question_waits_for_all_that_came_before_it_and_is_asked_when_none_of_that_was_recorded()
    {
        var expired = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100), Ask(2), Ask(3)], 0));
        expired.Expire();

        var question = Assert.Single(_inFlight.Leave([expired], nowUnixUs: 200).Next!);

        Assert.True(question.IsStatusQuery);
        Assert.False(question.IsDone);
        Assert.Equal([2UL, 3UL], question.Deliveries.Select(d => d.Command.CorrelationId));
        Assert.Equal([1UL], expired.Answers(0).Select(a => a.Reply!.CorrelationId));
    }

    [Fact]
    public void A_question_does_not_keep_a_payment_from_expiring()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100), Ask(2)], 0));
        Assert.False(payment.IsExpired(100));
        Assert.True(payment.IsExpired(101));
    }

    [Fact]
    public void A_question_waits_for_a_copy_of_an_expired_payment_that_came_after_it()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100), Ask(2)], 0));
        payment.Expire();
        _inFlight.Enter([Deliver(3, deadline: 300)], 0);

        var again = Assert.Single(_inFlight.Leave([payment], nowUnixUs: 200).LateCopies!);
        again.Record(Accepted(10));

        Assert.Equal([1UL], payment.Answers(0).Select(a => a.Reply!.CorrelationId));
        Assert.NotNull(Assert.Single(
            Assert.Single(_inFlight.Leave([again], 200).Answered!).Answers(0)).Reply!.PaymentStatus.Payment);
    }

    [Fact]
    public void A_payment_after_a_question_waits_for_its_answer_and_then_has_its_turn()
    {
        var question = Assert.Single(_inFlight.Enter([Ask(1), Deliver(2)], 0));
        question.RefuseAsUnknown();

        var payment = Assert.Single(_inFlight.Leave([question], 0).Next!);

        Assert.False(payment.IsStatusQuery);
        var reply = Assert.Single(question.Answers(0)).Reply!;
        Assert.Null(reply.PaymentStatus);
        Assert.Equal(
            ((int)StatusCode.NotFound, ErrorReasons.PaymentNotFound), (reply.Error.StatusCode, reply.Error.Reason));
    }

    [Fact]
    public void A_question_is_not_asked_before_a_payment_that_came_before_it()
    {
        var first = Assert.Single(_inFlight.Enter([Ask(1)], 0));
        _inFlight.Enter([Deliver(2), Ask(3)], 0);
        first.RefuseAsUnknown();

        var payment = Assert.Single(_inFlight.Leave([first], 0).Next!);
        payment.Record(Accepted(10));

        Assert.Equal([1UL], first.Answers(0).Select(a => a.Reply!.CorrelationId));
        Assert.NotNull(Assert.Single(
            Assert.Single(_inFlight.Leave([payment], 0).Answered!).Answers(0)).Reply!.PaymentStatus.Payment);
    }

    /// <summary>As while the proxy that asks does not know a partition that was added.</summary>
    [Fact]
    public void A_question_that_did_not_follow_its_payment_does_not_say_that_it_was_lost()
    {
        var ask = Ask(1);
        ask.Command.PaymentStatus.Partition = 2;
        var question = Assert.Single(_inFlight.Enter([ask], 0));
        question.RefuseAsUnknown();
        Assert.Equal(ErrorReasons.NoAnswerInTime, Assert.Single(question.Answers(0)).Reply!.Error.Reason);
    }

    /// <summary>Both come again to the next owner, which may be this process: the question must
    /// not be asked before.</summary>
    [Fact]
    public void A_question_is_abandoned_together_with_its_payment()
    {
        var (former, present) = (Assignment(), Assignment());
        var payment = Assert.Single(
            _inFlight.Enter([Deliver(1, assignment: former), Ask(2, units: 11, assignment: former)], 0));
        former.End();
        payment.AbandonIfOver();

        var left = _inFlight.Leave([payment], 0);
        var again = Assert.Single(_inFlight.Enter([Deliver(3, assignment: present), Ask(4, assignment: present)], 0));

        Assert.Equal([2UL], Assert.Single(left.Answered!).Deliveries.Select(d => d.Command.CorrelationId));
        Assert.True(left.Answered![0].IsAbandoned);
        Assert.Null(left.Next!);
        Assert.False(again.IsStatusQuery);
    }

    [Fact]
    public void A_payment_whose_id_is_closed_has_failed_and_is_refused_when_it_is_sent_again()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1), Ask(2)], 0));
        payment.Record(new Event());

        var question = Assert.Single(_inFlight.Leave([payment], 0).Answered!);

        Assert.Equal(ErrorReasons.CommandExpired, Assert.Single(question.Answers(0)).Reply!.PaymentStatus.Error.Reason);
        Assert.Equal(ErrorReasons.TransactionIdReused, Assert.Single(payment.Answers(0)).Reply!.Error.Reason);
        Assert.Null(payment.Event());
    }

    private static PartitionAssignment Assignment() => new(new SourcePartition("billing.payments.visa", 0));

    private static RecordingDelivery Deliver(
        ulong correlationId, long deadline = 0, PaymentNotes? notes = null, PartitionAssignment? assignment = null)
    {
        var command = Samples.PaymentCommand(correlationId: correlationId);
        command.DeadlineUnixUs = deadline;
        command.Payment.Notes = notes;
        return new RecordingDelivery(command, assignment);
    }

    private static RecordingDelivery Ask(
        ulong correlationId, long units = 10, PaymentNotes? notes = null, PartitionAssignment? assignment = null)
    {
        var command = Samples.PaymentCommand(units: units, correlationId: correlationId);
        command.Payment.Notes = notes;
        command.PaymentStatus = Samples.Question(command.Payment);
        return new RecordingDelivery(command, assignment);
    }

    private static Event Accepted(decimal amount, PaymentNotes? notes = null)
    {
        var fact = new PaymentAccepted(Guid.Parse(Samples.TransactionId), amount, "USD", DateTimeOffset.UnixEpoch)
        {
            Balance = amount,
            Notes = Notes.Of(notes),
        };
        return RecordedEvent.ToWire("visa/acct-42", 1, fact);
    }
}
