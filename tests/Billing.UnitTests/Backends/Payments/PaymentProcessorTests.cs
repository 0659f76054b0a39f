using System.Collections.Concurrent;
using System.Globalization;
using Billing.Backends;
using Billing.Backends.CardNetwork;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Payments;
using Billing.Contracts;
using Billing.Messaging;
using Billing.UnitTests.Backends.EventStore;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.UnitTests.Backends.Payments;

/// <summary>The pipeline of the write side, from deliveries to published answers and events.</summary>
public sealed class PaymentProcessorTests : IAsyncLifetime
{
    // Longer than what the time, which runs a thousand times as fast, advances by while a thread of the processor waits
    // for a busy machine.
    private static readonly TimeSpan Patience = TimeSpan.FromHours(2);

    private readonly ManualTime _time = new();
    private readonly FakeAccountStore _store = new();
    private readonly Answers _answers = new();
    private readonly SimulatedCardNetwork _network;
    private readonly PaymentProcessor _processor;
    private ulong _lastCorrelationId;

    public PaymentProcessorTests()
    {
        _network = NewNetwork(jitter: true);
        _processor = NewProcessor(_network);
    }

    public async ValueTask InitializeAsync() => await _processor.StartAsync(CancellationToken.None);

    public async ValueTask DisposeAsync()
    {
        await _processor.StopAsync(CancellationToken.None);
        _processor.Dispose();
        _network.Dispose();
    }

    [Fact]
    public async Task A_payment_is_recorded_answered_and_published_and_then_settled()
    {
        var payment = Payment();

        var reply = await ReplyToAsync(payment);

        Assert.Equal((PaymentOutcome.Accepted, 1L), (reply.Payment.Outcome, reply.Payment.Version));
        Assert.Equal("visa/acct-42", Assert.Single(_answers.Events).StreamId);
        Assert.Single(_store.Appended);
        await payment.Ended;
        Assert.True(payment.IsSettled);
    }

    [Theory]
    [InlineData(10, "web", "web")]
    [InlineData(101, "", null)]
    public async Task The_event_says_who_sent_the_payment(long units, string clientId, string? expected)
    {
        var payment = Payment(units: units);
        payment.Command.Principal = new V1.Principal { Subject = "alice", ClientId = clientId };

        await ReplyToAsync(payment);

        Assert.Equal(new Billing.Backends.Domain.Sender("alice", expected), Assert.Single(_store.Appended).Fact.By);
    }

    [Fact]
    public async Task A_payment_above_the_limit_is_declined_and_recorded()
    {
        var reply = await ReplyToAsync(Payment(units: 101));

        Assert.Equal((PaymentOutcome.Declined, 1L), (reply.Payment.Outcome, reply.Payment.Version));
        Assert.Single(_store.Appended);
    }

    [Fact]
    public async Task A_copy_joins_the_payment_in_flight_and_gets_its_answer()
    {
        var (searched, found) = (new TaskCompletionSource(), new TaskCompletionSource());
        _store.Searching = _ =>
        {
            searched.TrySetResult();
            return found.Task;
        };
        var first = Payment();
        var copy = CopyOf(first);
        _processor.Accept([first]);
        await searched.Task;
        _processor.Accept([copy]);
        found.SetResult();

        var (answer, again) = (await ReplyOfAsync(first), await ReplyOfAsync(copy));
        Assert.Equal((false, true), (answer.Payment.Replayed, again.Payment.Replayed));
        Assert.Equal(answer.Payment.AsReplay(), again.Payment);
        Assert.Single(_store.Appended);
        await copy.Ended;
        Assert.True(copy.IsSettled);
    }

    [Fact]
    public async Task A_payment_that_has_a_receipt_is_answered_from_it_and_its_event_is_published_again()
    {
        var first = Payment();
        await ReplyToAsync(first);
        var again = CopyOf(first);

        Assert.Equal(1, (await ReplyToAsync(again)).Payment.Version);
        Assert.Single(_store.Appended);
        Assert.Equal(2, _answers.Events.Count);
    }

    [Fact]
    public async Task Events_of_payments_that_come_again_in_another_order_are_published_in_that_of_their_versions()
    {
        var (first, second) = (Payment("acct-1"), Payment("acct-1"));
        await ReplyToAsync(first);
        await ReplyToAsync(second);
        RecordingDelivery[] again = [CopyOf(second), CopyOf(first)];
        _processor.Accept(again);
        foreach (var copy in again)
        {
            await ReplyOfAsync(copy);
        }

        Assert.Equal([1L, 2L, 1L, 2L], _answers.Events.Select(published => published.Version));
    }

    [Fact]
    public async Task An_id_that_was_used_with_another_amount_is_refused_and_nothing_is_recorded()
    {
        var first = Payment(units: 10);
        await ReplyToAsync(first);
        var other = CopyOf(first);
        other.Command.Payment.Amount.Units = 11;

        Assert.Equal(ErrorReasons.TransactionIdReused, (await ReplyToAsync(other)).Error.Reason);
        Assert.Single(_store.Appended);
    }

    [Theory]
    [InlineData(null, "")]
    [InlineData("order 8", "")]
    [InlineData("order 7", "Bern")]
    public async Task An_id_that_was_used_with_other_notes_is_refused_and_nothing_is_recorded(
        string? reference, string shop)
    {
        var first = Payment();
        first.Command.Payment.Notes = new PaymentNotes { Reference = "order 7", Metadata = { ["shop"] = "" } };
        await ReplyToAsync(first);
        var (same, other) = (CopyOf(first), CopyOf(first));
        other.Command.Payment.Notes =
            reference is null ? null : new PaymentNotes { Reference = reference, Metadata = { ["shop"] = shop } };

        Assert.Equal(PaymentOutcome.Accepted, (await ReplyToAsync(same)).Payment.Outcome);
        Assert.Equal(ErrorReasons.TransactionIdReused, (await ReplyToAsync(other)).Error.Reason);
        Assert.Single(_store.Appended);
    }

    [Fact]
    public async Task Payments_of_an_account_are_recorded_in_their_order_although_the_network_answers_in_another()
    {
        var payments = Enumerable.Range(1, 30).Select(units => Payment("acct-1", units % 3 + 1)).ToList();
        _processor.Accept(payments);

        var versions = new List<long>();
        foreach (var payment in payments)
        {
            versions.Add((await ReplyOfAsync(payment)).Payment.Version);
        }

        Assert.Equal(Enumerable.Range(1, 30).Select(n => (long)n), versions);
        Assert.Equal(versions, _answers.Events.Select(published => published.Version));
    }

    [Fact]
    public async Task A_command_that_cannot_be_stored_goes_to_the_dead_letters_and_the_others_are_answered()
    {
        _store.Fails = events => events.Any(e => e.Recorded.StreamId.EndsWith("poison", StringComparison.Ordinal))
            ? new InvalidCastException("a NUL in a text")
            : null;
        var (poison, sound) = (Payment("poison"), Payment("acct-1"));
        _processor.Accept([poison, sound]);

        Assert.Equal(ErrorReasons.ProcessingFailed, (await ReplyOfAsync(poison)).Error.Reason);
        Assert.Equal(PaymentOutcome.Accepted, (await ReplyOfAsync(sound)).Payment.Outcome);
        await poison.Ended;
        Assert.Contains("NUL", poison.Rejection, StringComparison.Ordinal);
        Assert.Null(sound.Rejection);
    }

    [Fact]
    public async Task If_receipts_cannot_be_read_together_each_command_is_tried_alone()
    {
        var (poison, sound) = (Payment("poison"), Payment("acct-1"));
        var poisonId = Guid.Parse(poison.Command.TransactionId);
        _store.Searching = ids => ids.Any(id => id.TransactionId == poisonId)
            ? Task.FromException(new InvalidCastException("unreadable"))
            : Task.CompletedTask;
        _processor.Accept([poison, sound]);

        Assert.Equal(ErrorReasons.ProcessingFailed, (await ReplyOfAsync(poison)).Error.Reason);
        Assert.Equal(PaymentOutcome.Accepted, (await ReplyOfAsync(sound)).Payment.Outcome);
        await poison.Ended;
        Assert.Contains("unreadable", poison.Rejection, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_payment_whose_caller_waits_no_more_is_refused_and_not_recorded()
    {
        var late = Payment();
        late.Command.DeadlineUnixUs = _time.Microseconds() - 1;

        Assert.Equal(ErrorReasons.CommandExpired, (await ReplyToAsync(late)).Error.Reason);
        Assert.Empty(_store.Appended);
        await _time.RunToEndAsync(late.Ended);
        Assert.True(late.IsSettled);
    }

    [Fact]
    public async Task While_the_store_does_not_answer_callers_are_told_and_nothing_is_settled()
    {
        var back = new TaskCompletionSource();
        _store.Searching = _ => back.Task;
        var payment = Payment();

        _processor.Accept([payment]);
        Assert.Equal(ErrorReasons.EventStoreUnavailable, (await RefusalOfAsync(payment)).Error.Reason);
        Assert.False(payment.IsSettled);
        Assert.StartsWith(
            "the database one of the event store has not answered",
            _processor.NotReadyReason, StringComparison.Ordinal);

        // Whatever its caller was told, it is executed before its deadline.
        back.SetResult();
        await _time.RunToEndAsync(payment.Ended);
        Assert.True(payment.IsSettled);
        Assert.Single(_store.Appended);
        Assert.Null(_processor.NotReadyReason);
    }

    [Fact]
    public async Task A_command_without_a_deadline_is_recorded_however_long_the_store_was_away()
    {
        var back = new TaskCompletionSource();
        _store.Searching = _ => back.Task;
        var replayed = Payment();
        replayed.Command.DeadlineUnixUs = 0;
        _processor.Accept([replayed]);
        await _time.RunToEndAsync(Task.Delay(TimeSpan.FromMinutes(1), _time));
        back.SetResult();

        Assert.Equal(1, (await ReplyOfAsync(replayed)).Payment.Version);
    }

    [Fact]
    public async Task While_the_tables_refuse_everything_commands_wait_and_all_are_recorded_afterwards()
    {
        _store.Fails = _ => new PostgresException(
            "null value in column \"more\"", "ERROR", "ERROR", PostgresErrorCodes.NotNullViolation);
        var payments = Enumerable.Range(0, 20).Select(n => Payment($"acct-{n}")).ToList();
        payments.ForEach(payment => payment.Command.DeadlineUnixUs = 0);
        _processor.Accept(payments);
        await _time.RunToEndAsync(Task.Delay(TimeSpan.FromMinutes(1), _time));
        Assert.Equal(
            "the database one of the event store refuses what is to be recorded: 23502: null value in column \"more\"",
            _processor.NotReadyReason);
        Assert.All(payments, payment => Assert.False(payment.IsSettled));
        var since = _time.GetTimestamp();
        _store.Fails = _ => null;

        foreach (var payment in payments)
        {
            Assert.Equal(1, (await ReplyOfAsync(payment)).Payment.Version);
        }
        // All at once, and not one after another.
        Assert.InRange(_time.GetElapsedTime(since), TimeSpan.Zero, TimeSpan.FromSeconds(10));
        // The reason is dropped after the last answer and before another command is taken.
        await ReplyToAsync(Payment("acct-20"));
        Assert.Null(_processor.NotReadyReason);
    }

    [Fact]
    public async Task Damage_under_one_account_is_told_to_its_callers_the_others_are_served_and_later_it_is_too()
    {
        _store.Fails = events => events.Any(e => e.Recorded.StreamId.EndsWith("bad", StringComparison.Ordinal))
            ? new PostgresException("invalid page", "ERROR", "ERROR", PostgresErrorCodes.DataCorrupted)
            : null;
        var (bad, sound) = (Payment("bad"), Payment("acct-1"));
        _processor.Accept([bad, sound]);

        Assert.Equal(1, (await ReplyOfAsync(sound)).Payment.Version);
        Assert.Equal(ErrorReasons.EventStoreUnavailable, (await RefusalOfAsync(bad)).Error.Reason);
        Assert.Null(_processor.NotReadyReason);
        var again = CopyOf(bad);
        _processor.Accept([again]);
        _store.Fails = _ => null;

        Assert.Equal(1, (await ReplyOfAsync(again)).Payment.Version);
        await bad.Ended;
        Assert.True(bad.IsSettled);
    }

    [Fact]
    public async Task Later_payments_of_an_account_wait_behind_one_that_cannot_be_recorded()
    {
        var (first, later) = (Payment("acct-1"), Payment("acct-1"));
        _store.Fails = events => events.Any(e => e.Recorded.TransactionId == first.Command.TransactionId)
            ? new PostgresException("invalid page", "ERROR", "ERROR", PostgresErrorCodes.DataCorrupted)
            : null;
        _processor.Accept([first]);
        await ReplyToAsync(Payment("acct-2"));
        _processor.Accept([later]);
        await ReplyToAsync(Payment("acct-3"));
        _store.Fails = _ => null;

        Assert.Equal(1, (await ReplyOfAsync(first)).Payment.Version);
        Assert.Equal(2, (await ReplyOfAsync(later)).Payment.Version);
    }

    [Fact]
    public async Task A_payment_whose_receipt_cannot_be_read_waits_until_it_can_and_the_others_are_served()
    {
        var (bad, sound) = (Payment("bad"), Payment("acct-1"));
        var id = Guid.Parse(bad.Command.TransactionId);
        _store.Searching = ids => ids.Any(wanted => wanted.TransactionId == id)
            ? Task.FromException(
                new PostgresException("invalid page", "ERROR", "ERROR", PostgresErrorCodes.DataCorrupted))
            : Task.CompletedTask;
        _processor.Accept([bad, sound]);

        Assert.Equal(1, (await ReplyOfAsync(sound)).Payment.Version);
        Assert.False(bad.IsSettled);
        _store.Searching = _ => Task.CompletedTask;

        Assert.Equal(1, (await ReplyOfAsync(bad)).Payment.Version);
    }

    [Fact]
    public async Task Later_payments_of_an_account_wait_behind_one_whose_receipt_cannot_be_read()
    {
        var (first, later) = (Payment("acct-1"), Payment("acct-1"));
        var id = Guid.Parse(first.Command.TransactionId);
        _store.Searching = ids => ids.Any(wanted => wanted.TransactionId == id)
            ? Task.FromException(
                new PostgresException("invalid page", "ERROR", "ERROR", PostgresErrorCodes.DataCorrupted))
            : Task.CompletedTask;
        _processor.Accept([first]);
        await ReplyToAsync(Payment("acct-2"));
        _processor.Accept([later]);
        await ReplyToAsync(Payment("acct-3"));
        _store.Searching = _ => Task.CompletedTask;

        Assert.Equal(1, (await ReplyOfAsync(first)).Payment.Version);
        Assert.Equal(2, (await ReplyOfAsync(later)).Payment.Version);
    }

    [Fact]
    public async Task A_question_about_a_payment_that_nobody_sent_changes_nothing()
    {
        var payment = Payment();

        var unknown = await ReplyToAsync(QuestionAbout(payment));

        Assert.Equal(ErrorReasons.PaymentNotFound, unknown.Error.Reason);
        Assert.Equal(PaymentOutcome.Accepted, (await ReplyToAsync(payment)).Payment.Outcome);
        Assert.Equal(
            PaymentOutcome.Accepted, (await ReplyToAsync(QuestionAbout(payment))).PaymentStatus.Payment.Outcome);
        Assert.Single(_answers.Events);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Only_a_queued_payment_whose_deadline_has_passed_has_failed_for_ever(bool isQueued)
    {
        var late = Payment();
        late.Command.IsQueued = isQueued;
        late.Command.DeadlineUnixUs = _time.Microseconds() - 1;
        _processor.Accept([late]);
        await _time.RunToEndAsync(late.Ended);
        var again = CopyOf(late);
        again.Command.IsQueued = false;
        again.Command.DeadlineUnixUs = 0;

        var status = await ReplyToAsync(QuestionAbout(late));
        var reply = await ReplyToAsync(again);

        Assert.Equal(
            isQueued ? ErrorReasons.CommandExpired : ErrorReasons.PaymentNotFound,
            (status.PaymentStatus?.Error ?? status.Error).Reason);
        Assert.Equal(isQueued ? ErrorReasons.TransactionIdReused : null, reply.Error?.Reason);
        Assert.Equal(isQueued ? 0 : 1, _store.Appended.Count);
    }

    [Fact]
    public async Task A_queued_payment_is_recorded_although_the_store_was_away_for_longer_than_callers_wait()
    {
        var back = new TaskCompletionSource();
        _store.Searching = _ => back.Task;
        var queued = Payment();
        queued.Command.IsQueued = true;
        _processor.Accept([queued]);
        await RefusalOfAsync(queued);
        back.SetResult();
        await _time.RunToEndAsync(queued.Ended);

        Assert.Equal(
            PaymentOutcome.Accepted, (await ReplyToAsync(QuestionAbout(queued))).PaymentStatus.Payment.Outcome);
    }

    /// <summary>Before the payment that has expired is refused, its receipt is looked for once more.</summary>
    [Fact]
    public async Task A_queued_payment_that_joins_one_that_has_just_expired_keeps_its_own_deadline()
    {
        var (late, searches) = (Payment(), 0);
        late.Command.DeadlineUnixUs = _time.Microseconds() - 1;
        var queued = CopyOf(late);
        (queued.Command.IsQueued, queued.Command.DeadlineUnixUs) = (true, 0);
        _store.Searching = _ =>
        {
            if (++searches == 2)
            {
                _processor.Accept([queued]);
            }
            return Task.CompletedTask;
        };
        _processor.Accept([late]);

        Assert.Equal(PaymentOutcome.Accepted, (await ReplyOfAsync(queued)).Payment.Outcome);
        Assert.Single(_store.Appended);
    }

    /// <summary>A payment of 90 expires while its receipt is looked for; meanwhile the same id comes with 7.</summary>
    [Fact]
    public async Task What_was_answered_as_expired_is_not_recorded_because_another_request_comes_under_its_id()
    {
        var (searched, found) = (new TaskCompletionSource(), new TaskCompletionSource());
        _store.Searching = _ =>
        {
            searched.TrySetResult();
            return found.Task;
        };
        var first = Payment(units: 90);
        first.Command.DeadlineUnixUs = _time.Microseconds() - 1;
        _processor.Accept([first]);
        await searched.Task;
        var other = CopyOf(first);
        other.Command.DeadlineUnixUs = 0;
        other.Command.Payment.Amount.Units = 7;
        _processor.Accept([other]);
        found.SetResult();

        Assert.Equal(ErrorReasons.CommandExpired, (await ReplyOfAsync(first)).Error.Reason);
        Assert.Equal(PaymentOutcome.Accepted, (await ReplyOfAsync(other)).Payment.Outcome);
        Assert.Equal(7, Assert.Single(_store.Appended).After.Balance);
    }

    [Fact]
    public async Task A_payment_under_the_id_of_a_refused_refund_is_not_answered_with_that_refusal()
    {
        var payment = Payment();
        await ReplyToAsync(payment);
        var refund = new RecordingDelivery(Samples.RefundCommand(payment.Command, 11));
        refund.Command.CorrelationId = ++_lastCorrelationId;
        var other = Payment(units: 3);
        other.Command.TransactionId = other.Command.Payment.TransactionId = refund.Command.TransactionId;
        _processor.Accept([refund, other]);

        Assert.Equal(ErrorReasons.AmountTooLarge, (await ReplyOfAsync(refund)).Error.Reason);
        Assert.Equal(PaymentOutcome.Accepted, (await ReplyOfAsync(other)).Payment.Outcome);
        await Task.WhenAll(refund.Ended, other.Ended);
        Assert.Equal(2, _answers.Events.Count);
    }

    [Fact]
    public async Task A_command_of_a_lost_partition_is_left_to_the_next_owner()
    {
        var assignment = NewAssignment();
        var (lost, kept) = (Payment("acct-1", assignment: assignment), Payment("acct-2"));
        assignment.End();
        _processor.Accept([lost, kept]);

        await ReplyOfAsync(kept);

        Assert.False(lost.IsSettled);
        Assert.Equal("visa/acct-2", Assert.Single(_store.Appended).Recorded.StreamId);
    }

    [Fact]
    public async Task While_no_database_holds_a_shard_its_commands_are_answered_unavailable_and_the_shard_is_named()
    {
        _store.Shards.Remove(Shard.Of("visa/acct-42"));
        var (payment, other) = (Payment(), Payment("acct-43"));
        _processor.Accept([payment, other]);

        Assert.Equal(PaymentOutcome.Accepted, (await ReplyOfAsync(other)).Payment.Outcome);
        Assert.Equal(ErrorReasons.EventStoreUnavailable, (await RefusalOfAsync(payment)).Error.Reason);
        Assert.Equal(
            string.Create(
                CultureInfo.InvariantCulture,
                $"no database that answers, or more than one, holds the shards {Shard.Of("visa/acct-42")}"),
            _processor.NotReadyReason);

        _store.Shards[Shard.Of("visa/acct-42")] = 2;
        var copy = CopyOf(payment);
        _processor.Accept([copy]);

        Assert.Equal(PaymentOutcome.Accepted, (await ReplyOfAsync(copy)).Payment.Outcome);
        await _time.RunToEndAsync(Task.WhenAll(payment.Ended, copy.Ended));
        Assert.Equal(2, _store.Appended.Count);
    }

    [Fact]
    public async Task Commands_of_a_moved_shard_are_abandoned_and_come_again_to_the_database_that_holds_it()
    {
        var first = Payment();
        _processor.Accept([first]);
        await ReplyOfAsync(first);
        _store.Shards.Clear();
        var (former, present) = (NewAssignment(), NewAssignment());
        var (second, third) = (Payment(assignment: former), Payment(assignment: former));
        _processor.Accept([second]);
        await _time.RunToEndAsync(second.Ended);
        Assert.Equal((true, false), (former.IsOver && former.ReadAgainAt <= _time.GetTimestamp(), second.IsSettled));
        var asked = 0;
        _store.ShardsAsked = () =>
        {
            if (++asked == 3)
            {
                _store.Shards[Shard.Of("visa/acct-42")] = 2;
            }
        };

        var (again, later) = (CopyOf(second, present), CopyOf(third, present));
        _processor.Accept([third]);
        _processor.Accept([again]);
        _processor.Accept([later]);
        await _time.RunToEndAsync(Task.WhenAll(third.Ended, again.Ended, later.Ended));

        Assert.True(asked >= 3);
        Assert.False(third.IsSettled);
        Assert.Equal(
            new[] { first, again, later }.Select(delivery => delivery.Command.TransactionId),
            _store.Appended.Select(e => e.Recorded.TransactionId));
    }

    [Fact]
    public async Task A_payment_at_the_card_network_while_its_shard_moved_is_abandoned_and_overtakes_nothing()
    {
        var (former, present) = (NewAssignment(), NewAssignment());
        var (payment, other) = (Payment(assignment: former), Payment("acct-1", assignment: former));
        var hasMoved = false;
        _store.Searching = ids =>
        {
            if (!hasMoved && ids.Any(id => id.TransactionId.ToString() == other.Command.TransactionId))
            {
                hasMoved = true;
                return Task.FromException(FakeAccountStore.ShardsElsewhere([Shard.Of("visa/acct-1")]));
            }
            return Task.CompletedTask;
        };
        _processor.Accept([payment]);
        _processor.Accept([other]);
        await _time.RunToEndAsync(Task.WhenAll(payment.Ended, other.Ended));

        var again = CopyOf(payment, present);
        _processor.Accept([again]);
        await ReplyOfAsync(again);

        Assert.False(payment.IsSettled);
        Assert.Single(_store.Appended);
    }

    [Fact]
    public async Task A_payment_authorised_while_a_command_set_aside_is_tried_again_does_not_overtake_it()
    {
        var wait = TimeSpan.FromMinutes(1);
        using var network = new SimulatedCardNetwork(
            Options.Create(new JitterOptions { Enabled = true, PaymentMin = wait, PaymentMax = wait, Seed = 5 }),
            _time);
        using var processor = NewProcessor(network);
        await processor.StartAsync(CancellationToken.None);
        var (begun, failures, isDamaged) = (_time.GetUtcNow(), 0, true);
        _store.Fails = _ =>
            isDamaged && ++failures > 0 ? new PostgresException("damaged", "ERROR", "ERROR", "XX001") : null;
        _store.Searching = _ =>
        {
            // Not one of the attempts of a try: what begins the next try. The network answers meanwhile.
            if (!isDamaged || failures == 0 || failures % EventStoreRetry.AttemptsTogether != 0
                || _time.GetUtcNow() < begun + (wait / 2))
            {
                return Task.CompletedTask;
            }
            isDamaged = false;
            return Task.Delay(wait, _time);
        };
        var (older, newer) = (Payment(), Payment());
        older.Command.CreditLimit = new SetCreditLimitRequest
        {
            TransactionId = older.Command.TransactionId,
            AccountId = "acct-42",
            PaymentType = PaymentType.Visa,
            Limit = Samples.Dollars(50),
        };

        processor.Accept([older, newer]);
        await _time.RunToEndAsync(Task.WhenAll(older.Ended, newer.Ended));

        Assert.Equal(
            new[] { older, newer }.Select(delivery => delivery.Command.TransactionId),
            _store.Appended.Select(e => e.Recorded.TransactionId));
        await processor.StopAsync(CancellationToken.None);
    }

    [Fact]
    public async Task Large_commands_are_recorded_a_few_at_a_time()
    {
        using var network = NewNetwork(jitter: false);
        using var processor = NewProcessor(network);
        var batches = new List<int>();
        _store.Fails = batch =>
        {
            batches.Add(batch.Count);
            return null;
        };
        var payments = Enumerable.Range(0, 10).Select(n => Payment($"acct-{n}", bytes: 1 << 20)).ToList();
        processor.Accept(payments);
        await processor.StartAsync(CancellationToken.None);

        await _time.RunToEndAsync(Task.WhenAll(payments.Select(payment => payment.Ended)));

        Assert.Equal([4, 4, 2], batches);
        await processor.StopAsync(CancellationToken.None);
    }

    private SimulatedCardNetwork NewNetwork(bool jitter) =>
        new(Options.Create(new JitterOptions { Enabled = jitter, Seed = 5 }), _time);

    private PaymentProcessor NewProcessor(SimulatedCardNetwork network)
    {
        var supervisor = Supervision.New();
        var options = Options.Create(new BackendOptions
        {
            OpeningLimits = { ["USD"] = "100" },
            StoreUnavailableMax = Patience,
            CachedAccountsMax = 1000,
        });
        return new PaymentProcessor(
            new ShardMap([_store], _time), network, new Replier(_answers, supervisor, NullLogger<Replier>.Instance),
            new EventStoreRetry(_time), options, supervisor, _time, NullLoggerFactory.Instance);
    }

    private RecordingDelivery Payment(
        string account = "acct-42", long units = 10, PartitionAssignment? assignment = null, int bytes = 0)
    {
        var command = Samples.PaymentCommand(account, units, ++_lastCorrelationId);
        command.TransactionId = command.Payment.TransactionId = Guid.NewGuid().ToString();
        command.DeadlineUnixUs = _time.Microseconds() + (long)TimeSpan.FromDays(1).TotalMicroseconds;
        return new RecordingDelivery(command, assignment) { Bytes = bytes };
    }

    private static PartitionAssignment NewAssignment() => new(new SourcePartition("billing.payments.visa", 0));

    private RecordingDelivery CopyOf(Delivery delivery, PartitionAssignment? assignment = null) =>
        new(new Command(delivery.Command) { CorrelationId = ++_lastCorrelationId }, assignment);

    private RecordingDelivery QuestionAbout(Delivery delivery, PartitionAssignment? assignment = null) => new(
        new Command
        {
            CorrelationId = ++_lastCorrelationId,
            TransactionId = delivery.Command.TransactionId,
            ProxyTopic = Samples.ReplyTopic,
            PaymentStatus = Samples.Question(delivery.Command.Payment),
        },
        assignment);

    private static Reply Corrected(Reply reply, Delivery to) => new(reply) { CorrelationId = to.Command.CorrelationId };

    private Task<Reply> ReplyToAsync(Delivery delivery)
    {
        _processor.Accept([delivery]);
        return ReplyOfAsync(delivery);
    }

    private async Task<Reply> ReplyOfAsync(Delivery delivery)
    {
        var reply = _answers.Of(delivery.Command.CorrelationId);
        await _time.RunToEndAsync(reply);
        return await reply;
    }

    // What comes after the callers' patience.
    private async Task<Reply> RefusalOfAsync(Delivery delivery)
    {
        var reply = _answers.Of(delivery.Command.CorrelationId);
        await _time.RunToEndAsync(reply, TimeSpan.FromMinutes(1));
        return await reply;
    }

    /// <summary>Keeps what is published, and acknowledges it at once.</summary>
    private sealed class Answers : IAnswerPublisher
    {
        private readonly ConcurrentDictionary<ulong, TaskCompletionSource<Reply>> _replies = [];

        public ConcurrentQueue<Event> Events { get; } = [];

        public Task<Reply> Of(ulong correlationId) => Waiting(correlationId).Task;

        public Task PublishAsync(
            IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken)
        {
            foreach (var published in events)
            {
                Events.Enqueue(published);
            }
            foreach (var answer in answers)
            {
                Waiting(answer.Reply.CorrelationId).TrySetResult(answer.Reply);
            }
            return Task.CompletedTask;
        }

        public Task SendAsync(Command command) => throw new NotSupportedException();

        private TaskCompletionSource<Reply> Waiting(ulong correlationId) =>
            _replies.GetOrAdd(
                correlationId,
                _ => new TaskCompletionSource<Reply>(TaskCreationOptions.RunContinuationsAsynchronously));
    }
}
