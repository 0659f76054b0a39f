using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Payments.InFlight;
using Billing.Contracts;
using Billing.Messaging;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using PaymentAccepted = Billing.Backends.Domain.PaymentAccepted;
using PaymentDeclined = Billing.Backends.Domain.PaymentDeclined;

namespace Billing.UnitTests.Backends.Payments;

public sealed class CommandsInFlightTests
{
    private const long Decided = 65;

    private readonly CommandsInFlight _inFlight = new();

    [Fact]
    public void A_copy_of_a_payment_in_flight_joins_the_first()
    {
        var fresh = Assert.Single(_inFlight.Enter([Deliver(1), Deliver(2)], 0));
        Assert.Empty(_inFlight.Enter([Deliver(3)], 0));
        fresh.Record(Accepted(10));
        Assert.Equal([1UL, 2UL, 3UL], fresh.Answers(0).Select(a => a.Reply!.CorrelationId));
    }

    [Fact]
    public void A_copy_after_the_first_has_left_is_a_separate_payment()
    {
        var first = Assert.Single(_inFlight.Enter([Deliver(1)], 0));
        first.Record(Accepted(10));
        AssertNothingIsLeft(_inFlight.Leave([first], 0));
        Assert.NotSame(first, Assert.Single(_inFlight.Enter([Deliver(2)], 0)));
        Assert.Equal([1UL], Correlations(first));
    }

    [Fact]
    public void Different_transactions_stay_separate_and_in_order()
    {
        var other = Samples.PaymentCommand(correlationId: 2);
        other.TransactionId = other.Payment.TransactionId = "11111111-1111-1111-1111-111111111111";
        var fresh = _inFlight.Enter([Deliver(1), new RecordingDelivery(other)], 0);
        fresh.ForEach(payment => payment.Record(Accepted(10)));
        Assert.Equal([1UL, 2UL], fresh.SelectMany(Correlations));
    }

    [Fact]
    public void Transaction_ids_that_differ_only_in_case_are_equal()
    {
        var upperCase = Samples.PaymentCommand();
        upperCase.TransactionId = upperCase.Payment.TransactionId = Samples.TransactionId.ToUpperInvariant();
        Assert.Single(_inFlight.Enter([Deliver(1), new RecordingDelivery(upperCase)], 0));
    }

    [Fact]
    public void Equal_copies_get_the_same_answer()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1), Deliver(2)], 0));
        payment.Record(Accepted(10));
        var answers = payment.Answers(0).Select(a => a.Reply!.Payment).ToList();
        Assert.Equal(PaymentOutcome.Accepted, answers[0].Outcome);
        Assert.Equal(answers[0], answers[1]);
    }

    /// <summary>Requests under the id of a payment of 10 USD: their names, and what makes them different.</summary>
    private static readonly Dictionary<string, Action<Command>> OtherRequests = new(StringComparer.Ordinal)
    {
        ["another amount"] = command => command.Payment.Amount.Units = 7,
        ["another currency"] = command => command.Payment.Amount.CurrencyCode = "EUR",
        ["notes"] = command => command.Payment.Notes = new PaymentNotes { Reference = "order 7" },
        ["a limit"] = command => command.CreditLimit = new SetCreditLimitRequest
        {
            TransactionId = command.TransactionId,
            AccountId = "acct-42",
            PaymentType = PaymentType.Visa,
            Limit = Samples.Dollars(10),
        },
        ["a hold"] = command => command.Authorise = new AuthorisePaymentRequest
        {
            TransactionId = command.TransactionId,
            AccountId = "acct-42",
            PaymentType = PaymentType.Visa,
            Amount = Samples.Dollars(10),
        },
        ["a refund"] = command => command.Refund = new RefundPaymentRequest
        {
            TransactionId = command.TransactionId,
            AccountId = "acct-42",
            PaymentType = PaymentType.Visa,
            PaymentId = Guid.NewGuid().ToString(),
            Amount = Samples.Dollars(10),
        },
        ["a status"] = command => command.AccountStatus = new SetAccountStatusRequest
        {
            TransactionId = command.TransactionId,
            AccountId = "acct-42",
            PaymentType = PaymentType.Visa,
            AccountStatus = AccountStatus.Frozen,
        },
    };

    public static TheoryData<string> Others => [.. OtherRequests.Keys];

    [Theory]
    [MemberData(nameof(Others))]
    public void Another_request_under_the_id_waits_and_is_told_that_the_id_is_used_once_the_first_is_recorded(
        string what)
    {
        var other = Other(what, 2);
        var payment = Assert.Single(_inFlight.Enter([Deliver(1), other, Deliver(3)], 0));
        payment.Record(Accepted(10));

        var left = _inFlight.Leave([payment], 0);

        Assert.Equal([1UL, 3UL], Correlations(payment));
        Assert.Null(left.Next!);
        var reply = Assert.Single(Assert.Single(left.Answered!).Answers(0)).Reply!;
        Assert.Equal(
            (2UL, (int)StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused),
            (reply.CorrelationId, reply.Error.StatusCode, reply.Error.Reason));
        Assert.Contains(Samples.TransactionId, reply.Error.Message, StringComparison.Ordinal);
        Assert.Single(_inFlight.Enter([Deliver(4)], 0));
    }

    [Theory]
    [MemberData(nameof(Others))]
    public void Another_request_under_the_id_has_its_turn_with_its_own_contents_when_the_first_is_not_recorded(
        string what)
    {
        var first = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100)], 0));
        Assert.Empty(_inFlight.Enter([Other(what, 2)], 0));
        first.Expire();

        var left = _inFlight.Leave([first], 200);

        var next = Assert.Single(left.Next!);
        Assert.Null(left.Answered!);
        Assert.Null(left.LateCopies);
        Assert.False(next.IsDone);
        Assert.NotEqual(first.Command, next.Command);
        Assert.Equal([1UL], Correlations(first));
        Assert.Equal([2UL], next.Deliveries.Select(d => d.Command.CorrelationId));
        // It is the first of its queue by now.
        Assert.Empty(_inFlight.Enter([Other(what, 3), Deliver(4)], 0));
    }

    [Theory]
    [MemberData(nameof(Others))]
    public void A_request_is_not_answered_with_the_refusal_of_another_one(string what)
    {
        var first = Assert.Single(_inFlight.Enter([Other(what, 1), Deliver(2)], 0));
        first.Refuse(new Error { Reason = ErrorReasons.AmountTooLarge });

        var next = Assert.Single(_inFlight.Leave([first], 0).Next!);

        Assert.Equal([1UL], Correlations(first));
        Assert.Equal([2UL], next.Deliveries.Select(d => d.Command.CorrelationId));
        Assert.False(next.IsDone);
    }

    [Fact]
    public void Requests_that_differ_in_what_no_caller_asks_for_are_copies()
    {
        var timed = DeliverTimed(2, consumed: 50);
        timed.Command.Principal = new V1.Principal { Subject = "alice" };
        timed.Command.TransactionId = timed.Command.Payment.TransactionId = Samples.TransactionId.ToUpperInvariant();
        timed.Command.Payment.Notes = new PaymentNotes();
        var payment = Assert.Single(_inFlight.Enter([Deliver(1), timed], 0));
        payment.Record(Accepted(10));
        Assert.Equal([1UL, 2UL], Correlations(payment));
    }

    [Fact]
    public void Several_requests_under_one_id_have_their_turns_in_the_order_in_which_they_came()
    {
        var command = Assert.Single(
            _inFlight.Enter([Deliver(1), Other("a limit", 2), Other("notes", 3), Other("a limit", 4), Deliver(5)], 0));
        foreach (var expected in (ulong[][])[[1, 5], [2, 4], [3]])
        {
            Assert.Equal(expected, command.Deliveries.Select(d => d.Command.CorrelationId));
            command.Refuse(new Error());
            command = _inFlight.Leave([command], 0).Next?.SingleOrDefault() ?? command;
        }
        Assert.Single(_inFlight.Enter([Deliver(6)], 0));
    }

    [Fact]
    public void All_that_wait_under_a_closed_id_are_told()
    {
        var first = Assert.Single(_inFlight.Enter([Deliver(1), Other("notes", 2)], 0));
        first.Record(new Wire.V1.Event());
        var other = Assert.Single(_inFlight.Leave([first], 0).Answered!);
        Assert.Equal(ErrorReasons.TransactionIdReused, Assert.Single(first.Answers(0)).Reply!.Error.Reason);
        Assert.Equal(ErrorReasons.TransactionIdReused, Assert.Single(other.Answers(0)).Reply!.Error.Reason);
    }

    [Fact]
    public void A_transaction_id_of_another_account_is_a_separate_command()
    {
        var otherAccount = Samples.PaymentCommand("acct-43", correlationId: 2);
        var otherType = Samples.PaymentCommand(correlationId: 3);
        otherType.Payment.PaymentType = PaymentType.Amex;
        var commands = _inFlight.Enter(
            [Deliver(1), new RecordingDelivery(otherAccount), new RecordingDelivery(otherType)], 0);
        Assert.Equal(["visa/acct-42", "visa/acct-43", "amex/acct-42"], commands.Select(command => command.Id.StreamId));
        Assert.Single(commands.DistinctBy(command => command.Id.TransactionId));
    }

    [Fact]
    public void A_copy_of_a_declined_payment_gets_the_decline_again()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1), Deliver(2)], 0));
        var declined = payment.Command.Decide(Limits.Opened(1), null, DateTimeOffset.UnixEpoch).Event!;
        payment.Record(RecordedEvent.ToWire(payment.StreamId, 1, declined));
        Assert.All(payment.Answers(0), a => Assert.Equal(PaymentOutcome.Declined, a.Reply!.Payment.Outcome));
    }

    [Fact]
    public void An_unknown_field_of_a_newer_client_does_not_make_the_content_different()
    {
        var newer = Samples.PaymentCommand();
        // Field 15, a varint: unknown to this version of the contract.
        newer.Payment.Amount = Money.Parser.ParseFrom(
            [.. Google.Protobuf.MessageExtensions.ToByteArray(newer.Payment.Amount), 0x78, 0x01]);
        var payment = Assert.Single(_inFlight.Enter([new RecordingDelivery(newer)], 0));
        payment.Record(Accepted(10));
        Assert.NotNull(Assert.Single(payment.Answers(0)).Reply!.Payment);
    }

    [Fact]
    public void A_payment_expires_only_when_all_its_deliveries_have_expired()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100), Deliver(2, deadline: 200)], 0));
        Assert.False(payment.IsExpired(150));
        Assert.False(payment.IsExpired(200));
        Assert.True(payment.IsExpired(201));
        _inFlight.Enter([Deliver(3, deadline: 0)], 0);
        Assert.False(payment.IsExpired(long.MaxValue));
    }

    [Fact]
    public void A_copy_that_arrives_after_the_first_has_expired_is_a_separate_command()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100)], 0));
        payment.Expire();
        Assert.Empty(_inFlight.Enter([Other("notes", 9), Deliver(2, deadline: 300)], 0));

        var again = Assert.Single(_inFlight.Leave([payment], nowUnixUs: 200).LateCopies!);

        Assert.Equal([1UL], Correlations(payment));
        Assert.False(again.IsDone);
        Assert.Empty(_inFlight.Enter([Deliver(3, deadline: 300)], 0));
        again.Record(Accepted(10));
        Assert.Equal([9UL], Assert.Single(_inFlight.Leave([again], nowUnixUs: 200).Answered!).Deliveries
            .Select(d => d.Command.CorrelationId));
        Assert.Equal([2UL, 3UL], Correlations(again));
        Assert.NotEmpty(_inFlight.Enter([Deliver(4)], 0));
    }

    [Fact]
    public void A_queued_copy_that_joins_an_expired_command_is_not_dropped_when_its_own_deadline_has_passed_too()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100)], 0));
        var queued = Deliver(2, deadline: 150);
        queued.Command.IsQueued = true;
        Assert.Empty(_inFlight.Enter([queued], 0));
        payment.Expire();

        var again = Assert.Single(_inFlight.Leave([payment], nowUnixUs: 200).LateCopies!);

        Assert.Equal([1UL], Correlations(payment));
        Assert.Equal([2UL], again.Deliveries.Select(d => d.Command.CorrelationId));
        Assert.True(again.IsQueued && again.IsExpired(200) && !again.IsDone);
    }

    [Fact]
    public void An_expired_command_without_a_waiting_copy_stays_expired()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100)], 0));
        payment.Expire();
        AssertNothingIsLeft(_inFlight.Leave([payment], nowUnixUs: 200));
        Assert.True(payment.IsDone);
    }

    [Fact]
    public void What_comes_again_under_another_assignment_is_another_command_and_the_former_one_is_abandoned()
    {
        var (former, present) = (NewAssignment(), NewAssignment());
        var first = Assert.Single(_inFlight.Enter([Deliver(1, former), Deliver(2, former)], 0));
        former.Restart(1);

        var again = Assert.Single(_inFlight.Enter([Deliver(3, present), Deliver(4, present)], 0));

        Assert.True(first.AbandonIfOver());
        AssertNothingIsLeft(_inFlight.Leave([first], 0));
        Assert.False(again.AbandonIfOver());
        Assert.Empty(_inFlight.Enter([Deliver(5, present)], 0));
        Assert.Equal([3UL, 4UL, 5UL], again.Deliveries.Select(d => d.Command.CorrelationId));
    }

    private static PartitionAssignment NewAssignment() => new(new SourcePartition("billing.payments.visa", 0));

    private static RecordingDelivery Deliver(ulong correlationId, PartitionAssignment assignment) =>
        new(Samples.PaymentCommand(correlationId: correlationId), assignment);

    [Fact]
    public void The_reason_of_a_rejection_is_visible_only_to_the_operators()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1)], 0));
        payment.Reject("host db-7 said no");
        Assert.Contains("db-7", Assert.IsType<CommandResult.Rejected>(payment.Result).Reason, StringComparison.Ordinal);
        Assert.DoesNotContain("db-7", Assert.Single(payment.Answers(0)).Reply!.Error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_refusal_reaches_every_delivery()
    {
        var payment = Assert.Single(_inFlight.Enter([Deliver(1), Deliver(2)], 0));
        Assert.False(payment.IsDone);
        payment.Expire();
        Assert.True(payment.IsDone);
        Assert.All(payment.Answers(0), a => Assert.Equal(ErrorReasons.CommandExpired, a.Reply!.Error.Reason));
        Assert.Equal([1UL, 2UL], Correlations(payment));
    }

    [Fact]
    public void A_caller_that_has_waited_for_long_is_answered_once_and_not_again()
    {
        var command = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100)], 10));
        _inFlight.Enter([Deliver(2, deadline: 100)], 20);
        Assert.Empty(_inFlight.AnswerWaiting(since: 9, _ => true));
        Assert.Equal(1UL, Assert.Single(_inFlight.AnswerWaiting(since: 15, _ => true)).Command.CorrelationId);
        Assert.Empty(_inFlight.AnswerWaiting(since: 15, _ => true));
        command.Record(Accepted(10));
        Assert.Equal([null, 2UL], command.Answers(0).Select(a => a.Reply?.CorrelationId));
    }

    [Fact]
    public void Whatever_its_callers_were_told_a_command_does_not_expire_before_its_deadline()
    {
        var command = Assert.Single(_inFlight.Enter([Deliver(1, deadline: 100)], 10));
        Assert.Single(_inFlight.AnswerWaiting(since: 10, _ => true));
        Assert.False(command.IsExpired(100));
        Assert.True(command.IsExpired(101));
    }

    [Fact]
    public void Callers_whose_requests_wait_behind_another_one_are_told_as_well()
    {
        _inFlight.Enter([Deliver(1, deadline: 100), Other("notes", 2, deadline: 100)], 10);
        Assert.Equal([1UL, 2UL], _inFlight.AnswerWaiting(since: 10, _ => true).Select(d => d.Command.CorrelationId));
        Assert.Empty(_inFlight.AnswerWaiting(since: 10, _ => true));
    }

    [Fact]
    public void A_limit_change_is_answered_as_such_and_a_payment_with_its_id_is_refused()
    {
        var command = Assert.Single(_inFlight.Enter([Other("a limit", 1), Deliver(2)], 0));
        var fact = command.Command.Decide(Limits.Opened(1000), null, DateTimeOffset.UnixEpoch).Event!;
        command.Record(RecordedEvent.ToWire("visa/acct-42", 1, fact));
        var replies = _inFlight.Leave([command], 0).Answered!.Prepend(command).SelectMany(c => c.Answers(0))
            .Select(a => a.Reply!).ToList();
        Assert.Equal(Samples.Dollars(10), replies[0].CreditLimit.Limit);
        Assert.Equal(1, replies[0].CreditLimit.Version);
        Assert.Equal(ErrorReasons.TransactionIdReused, replies[1].Error.Reason);
    }

    [Fact]
    public void A_reply_has_times_only_on_request_and_only_the_first_has_those_of_decision_and_storage()
    {
        var payment = Assert.Single(
            _inFlight.Enter([DeliverTimed(1, consumed: 50), DeliverTimed(2, consumed: 60), Deliver(3)], 0));
        payment.Record(Accepted(10), storedUnixUs: 70);
        Assert.Equal<Timing?>(
            [
                new Timing
                {
                    SentUnixUs = 1,
                    ConsumedUnixUs = 50,
                    DecidedUnixUs = Decided,
                    StoredUnixUs = 70,
                    RepliedUnixUs = 80,
                },
                new Timing { SentUnixUs = 1, ConsumedUnixUs = 60, RepliedUnixUs = 80 },
                null,
            ],
            payment.Answers(80).Select(a => a.Reply!.Timing));
    }

    [Fact]
    public void A_payment_recorded_before_is_answered_without_the_times_of_decision_and_storage()
    {
        var payment = Assert.Single(_inFlight.Enter([DeliverTimed(1, consumed: 50)], 0));
        payment.Record(Accepted(10));
        Assert.Equal(
            new Timing { SentUnixUs = 1, ConsumedUnixUs = 50, RepliedUnixUs = 80 },
            Assert.Single(payment.Answers(80)).Reply!.Timing);
    }

    [Fact]
    public void The_event_of_a_timed_payment_contains_the_times_of_its_request()
    {
        var delivery = DeliverTimed(1, consumed: 50);
        delivery.Command.ReceivedUnixUs = 20;
        var payment = Assert.Single(_inFlight.Enter([delivery], 0));
        var times = new RequestTimes(At(1), At(20), At(50));
        Assert.Equal(
            times,
            Assert.IsType<PaymentAccepted>(payment.Command.Decide(Limits.Opened(1000), null, At(60)).Event).Times);
        Assert.Equal(
            times, Assert.IsType<PaymentDeclined>(payment.Command.Decide(Limits.Opened(1), null, At(60)).Event).Times);
    }

    [Fact]
    public async Task Exactly_one_of_several_concurrent_copies_is_the_first()
    {
        var entered = await Task.WhenAll(
            Enumerable.Range(1, 64).Select(n => Task.Run(() => _inFlight.Enter([Deliver((ulong)n)], 0))));
        var payment = Assert.Single(entered.SelectMany(fresh => fresh));
        payment.Record(Accepted(10));
        Assert.Equal(Enumerable.Range(1, 64).Select(n => (ulong)n), Correlations(payment).Order());
    }

    private static void AssertNothingIsLeft(Left left)
    {
        Assert.Null(left.Answered!);
        Assert.Null(left.LateCopies);
        Assert.Null(left.Next!);
    }

    private static RecordingDelivery Other(string what, ulong correlationId, long deadline = 0)
    {
        var delivery = Deliver(correlationId, deadline);
        OtherRequests[what](delivery.Command);
        return delivery;
    }

    private static IEnumerable<ulong> Correlations(PendingCommand payment) =>
        payment.Answers(0).Select(a => a.Delivery.Command.CorrelationId);

    private static RecordingDelivery DeliverTimed(ulong correlationId, long consumed)
    {
        var command = Samples.PaymentCommand(correlationId: correlationId);
        command.ReceivedUnixUs = 20;
        command.Timing = new Timing { SentUnixUs = 1 };
        return new RecordingDelivery(command) { ConsumedUnixUs = consumed };
    }

    private static DateTimeOffset At(long us) => DateTimeOffset.UnixEpoch.AddTicks(us * TimeSpan.TicksPerMicrosecond);

    private static RecordingDelivery Deliver(ulong correlationId, long deadline = 0)
    {
        var command = Samples.PaymentCommand(correlationId: correlationId);
        command.DeadlineUnixUs = deadline;
        return new RecordingDelivery(command);
    }

    private static Wire.V1.Event Accepted(decimal amount)
    {
        var id = Guid.Parse(Samples.TransactionId);
        var fact = new PaymentAccepted(id, amount, "USD", At(Decided)) { Balance = amount };
        return RecordedEvent.ToWire("visa/acct-42", 1, fact);
    }
}
