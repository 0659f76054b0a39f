using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Payments;
using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Grpc.Core;
using PaymentAccepted = Billing.Backends.Domain.PaymentAccepted;

namespace Billing.UnitTests.Backends.Payments;

/// <summary>Queries for the status of payments among the commands in flight.</summary>
public sealed class PaymentQuestionTests
{
    private readonly CommandsInFlight _inFlight = new();

    [Fact]
    public void A_status_query_for_a_payment_in_flight_gets_the_answer_of_the_payment()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1), Ask(2), Ask(3, units: 11)], 0));
        payment.Record(Accepted(10));
        var replies = payment.Answers(0).Select(a => a.Reply!).ToList();
        Assert.Equal(replies[0].Payment, replies[1].PaymentStatus.Payment);
        Assert.Equal(2UL, replies[1].CorrelationId);
        Assert.Equal(ErrorReasons.TransactionIdReused, replies[2].PaymentStatus.Error.Reason);
    }

    [Fact]
    public void A_status_query_does_not_take_the_failure_of_one_copy_for_that_of_the_payment()
    {
        var rejected = Assert.Single(_inFlight.Enter([Deliver(1), Ask(2)], 0));
        rejected.Reject("poison");
        AssertAskedAnew(rejected);

        var expired = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100), Ask(2)], 0));
        expired.Refuse(StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired, "too late");
        AssertAskedAnew(expired);
    }

    private void AssertAskedAnew(PendingCommand ended)
    {
        var question = Assert.Single(_inFlight.Leave([ended], nowUnixUs: 200));

        Assert.Equal([1UL], ended.Answers(0).Select(a => a.Reply!.CorrelationId));
        Assert.True(question.IsStatusQuery);
        Assert.False(question.IsDone);
        Assert.Single(_inFlight.Enter([Deliver(3)], 0));
        _inFlight.Leave([ended], 0);
    }

    [Fact]
    public void A_status_query_does_not_prevent_a_payment_from_expiring()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100), Ask(2)], 0));
        Assert.False(payment.IsExpired(100));
        Assert.True(payment.IsExpired(101));
    }

    [Fact]
    public void A_status_query_for_an_expired_payment_waits_for_a_later_copy_of_the_payment()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100), Ask(2)], 0));
        payment.Refuse(StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired, "too late");
        _inFlight.Enter([Deliver(3, deadline: 300)], 0);

        var again = Assert.Single(_inFlight.Leave([payment], nowUnixUs: 200));
        again.Record(Accepted(10));

        Assert.Equal([1UL], payment.Answers(0).Select(a => a.Reply!.CorrelationId));
        Assert.NotNull(again.Answers(0).Single(a => a.Reply!.CorrelationId == 2).Reply!.PaymentStatus.Payment);
    }

    [Fact]
    public void A_payment_after_a_status_query_is_a_separate_command_and_stays_in_flight_when_the_query_leaves()
    {
        var question = Assert.Single(_inFlight.Enter([Ask(1)], 0));
        var payment = Assert.Single(_inFlight.Enter([Deliver(2)], 0));
        Assert.True(question.IsStatusQuery);
        Assert.False(payment.IsStatusQuery);
        question.RefuseAsEarly();
        Assert.Empty(_inFlight.Leave([question], 0));
        Assert.Empty(_inFlight.Enter([Deliver(3)], 0));
    }

    [Theory]
    [InlineData(0, 200, false)]
    [InlineData(200, 200, true)]
    [InlineData(200, 201, false)]
    public void A_payment_neither_recorded_nor_in_flight_may_still_come_until_its_deadline(long deadline, long now, bool isEarly)
    {
        var ask = Ask(1);
        ask.Command.PaymentStatus.DeadlineUnixUs = deadline;
        var question = Assert.Single(_inFlight.Enter([ask], 0));
        Assert.Equal(isEarly, question.IsEarly(now));
    }

    [Fact]
    public void A_payment_that_may_still_come_is_neither_failed_nor_done()
    {
        var question = Assert.Single(_inFlight.Enter([Ask(1)], 0));
        question.RefuseAsEarly();
        var reply = Assert.Single(question.Answers(0)).Reply!;
        Assert.Null(reply.PaymentStatus);
        Assert.Equal((int)StatusCode.DeadlineExceeded, reply.Error.StatusCode);
    }

    [Fact]
    public void A_payment_whose_id_is_closed_has_failed_and_is_refused_when_it_is_sent_again()
    {
        var question = Assert.Single(_inFlight.Enter([Ask(1)], 0));
        var payment = Assert.Single(_inFlight.Enter([Deliver(2)], 0));
        question.Record(new Event());
        payment.Record(new Event());
        Assert.Equal(ErrorReasons.CommandExpired, Assert.Single(question.Answers(0)).Reply!.PaymentStatus.Error.Reason);
        Assert.Equal(ErrorReasons.TransactionIdReused, Assert.Single(payment.Answers(0)).Reply!.Error.Reason);
        Assert.Null(payment.Event());
    }

    private static RecordingDelivery Deliver(ulong correlationId, long deadline = 0)
    {
        var command = Samples.PaymentCommand(correlationId: correlationId);
        command.DeadlineUnixUs = deadline;
        return new RecordingDelivery(command);
    }

    private static RecordingDelivery Ask(ulong correlationId, long units = 10)
    {
        var command = Samples.PaymentCommand(correlationId: correlationId);
        command.PaymentStatus = new PaymentStatusRequest { Payment = Samples.Payment(units: units) };
        return new RecordingDelivery(command);
    }

    private static Event Accepted(decimal amount)
    {
        var fact = new PaymentAccepted(Guid.Parse(Samples.TransactionId), amount, "USD", DateTimeOffset.UnixEpoch);
        return RecordedEvent.ToWire("visa/acct-42", fact, Account.Opened(1000).Apply(fact));
    }
}
