using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Payments;
using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;

namespace Billing.UnitTests.Backends.Payments;

public sealed class PaymentsInFlightTests
{
    private readonly PaymentsInFlight _inFlight = new();

    [Fact]
    public void A_copy_of_a_payment_in_flight_joins_the_first()
    {
        var fresh = Assert.Single(_inFlight.Enter([Deliver(1), Deliver(2)]));
        Assert.Empty(_inFlight.Enter([Deliver(3)]));
        fresh.Record(Accepted(10));
        Assert.Equal([1UL, 2UL, 3UL], fresh.Answers().Select(a => a.Reply.CorrelationId));
    }

    [Fact]
    public void A_copy_after_the_first_has_left_is_a_payment_of_its_own()
    {
        var first = Assert.Single(_inFlight.Enter([Deliver(1)]));
        _inFlight.Leave([first]);
        Assert.NotSame(first, Assert.Single(_inFlight.Enter([Deliver(2)])));
        first.Record(Accepted(10));
        Assert.Equal([1UL], Correlations(first));
    }

    [Fact]
    public void Other_transactions_stay_apart_and_in_order()
    {
        var other = Samples.PaymentCommand(correlationId: 2);
        other.TransactionId = other.Payment.TransactionId = "11111111-1111-1111-1111-111111111111";
        var fresh = _inFlight.Enter([Deliver(1), new RecordingDelivery(other)]);
        fresh.ForEach(payment => payment.Record(Accepted(10)));
        Assert.Equal([1UL, 2UL], fresh.SelectMany(Correlations));
    }

    [Fact]
    public void Copies_that_differ_in_the_letters_case_of_the_id_are_copies()
    {
        var shouted = Samples.PaymentCommand();
        shouted.TransactionId = shouted.Payment.TransactionId = Samples.TransactionId.ToUpperInvariant();
        Assert.Single(_inFlight.Enter([Deliver(1), new RecordingDelivery(shouted)]));
    }

    [Fact]
    public void Equal_copies_get_the_same_answer()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1), Deliver(2)]));
        payment.Record(Accepted(10));
        var answers = payment.Answers().Select(a => a.Reply.Payment).ToList();
        Assert.Equal(PaymentOutcome.Accepted, answers[0].Outcome);
        Assert.Equal(answers[0], answers[1]);
    }

    [Fact]
    public void Copies_with_other_content_are_told_that_the_id_was_used()
    {
        var otherAmount = Samples.PaymentCommand(units: 11, correlationId: 2);
        var otherAccount = Samples.PaymentCommand("acct-43", correlationId: 3);
        var otherType = Samples.PaymentCommand(correlationId: 4);
        otherType.Payment.PaymentType = PaymentType.Amex;
        var otherCurrency = Samples.PaymentCommand(correlationId: 5);
        otherCurrency.Payment.Amount.CurrencyCode = "EUR";
        var payment = Assert.Single(_inFlight.Enter(
        [
            Deliver(1), new RecordingDelivery(otherAmount), new RecordingDelivery(otherAccount),
            new RecordingDelivery(otherType), new RecordingDelivery(otherCurrency),
        ]));
        payment.Record(Accepted(10));
        var replies = payment.Answers().Select(a => a.Reply).ToList();
        Assert.NotNull(replies[0].Payment);
        Assert.All(replies.Skip(1), reply =>
        {
            Assert.Equal((int)StatusCode.AlreadyExists, reply.Error.StatusCode);
            Assert.Equal(ErrorReasons.TransactionIdReused, reply.Error.Reason);
            Assert.Contains(Samples.TransactionId, reply.Error.Message, StringComparison.Ordinal);
        });
    }

    [Fact]
    public void A_copy_of_a_declined_payment_gets_the_decline_again()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1), Deliver(2)]));
        var declined = payment.Payment.Decide(Account.Opened(1), DateTimeOffset.UnixEpoch);
        payment.Record(RecordedEvent.ToWire(payment.StreamId, declined, Account.Opened(1).Apply(declined)));
        Assert.All(payment.Answers(), a => Assert.Equal(PaymentOutcome.Declined, a.Reply.Payment.Outcome));
    }

    [Fact]
    public void A_field_that_a_newer_client_sends_makes_no_other_content()
    {
        var newer = Samples.PaymentCommand();
        // Field 15, a varint: unknown to this version of the contract.
        newer.Payment.Amount = Money.Parser.ParseFrom([.. Google.Protobuf.MessageExtensions.ToByteArray(newer.Payment.Amount), 0x78, 0x01]);
        var payment = Assert.Single(_inFlight.Enter([new RecordingDelivery(newer)]));
        payment.Record(Accepted(10));
        Assert.NotNull(Assert.Single(payment.Answers()).Reply.Payment);
    }

    [Fact]
    public void A_payment_expires_only_when_every_delivery_of_it_has()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100), Deliver(2, deadline: 200)]));
        Assert.False(payment.IsExpired(150));
        Assert.False(payment.IsExpired(200));
        Assert.True(payment.IsExpired(201));
        _inFlight.Enter([Deliver(3, deadline: 0)]);
        Assert.False(payment.IsExpired(long.MaxValue));
    }

    [Fact]
    public void A_refusal_reaches_every_delivery()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1), Deliver(2)]));
        Assert.False(payment.IsDone);
        payment.Refuse(StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired, "too late");
        Assert.True(payment.IsDone);
        Assert.All(payment.Answers(), a => Assert.Equal(ErrorReasons.CommandExpired, a.Reply.Error.Reason));
        Assert.Equal([1UL, 2UL], Correlations(payment));
    }

    [Fact]
    public async Task Of_copies_that_come_at_the_same_time_one_is_first()
    {
        var entered = await Task.WhenAll(Enumerable.Range(1, 64).Select(n => Task.Run(() => _inFlight.Enter([Deliver((ulong)n)]))));
        var payment = Assert.Single(entered.SelectMany(fresh => fresh));
        payment.Record(Accepted(10));
        Assert.Equal(Enumerable.Range(1, 64).Select(n => (ulong)n), Correlations(payment).Order());
    }

    private static IEnumerable<ulong> Correlations(PendingPayment payment) =>
        payment.Answers().Select(a => a.Delivery.Command.CorrelationId);

    private static RecordingDelivery Deliver(ulong correlationId, long deadline = 0)
    {
        var command = Samples.PaymentCommand(correlationId: correlationId);
        command.DeadlineUnixUs = deadline;
        return new RecordingDelivery(command);
    }

    private static Wire.V1.Event Accepted(decimal amount)
    {
        var fact = new PaymentAccepted(Guid.Parse(Samples.TransactionId), amount, "USD", DateTimeOffset.UnixEpoch);
        return RecordedEvent.ToWire("visa/acct-42", fact, Account.Opened(1000).Apply(fact));
    }
}
