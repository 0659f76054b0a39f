using Billing.Backends;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Payments;
using Billing.Backends.Payments.InFlight;
using Billing.Contracts;
using Billing.Messaging;
using Billing.UnitTests.Backends.EventStore;
using Billing.UnitTests.Testing;
using Billing.V1;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.UnitTests.Backends.Payments;

/// <summary>The recorder with a store that fails as configured.</summary>
public sealed class PaymentRecorderTests
{
    private readonly ManualTime _time = new();
    private readonly FakeAccountStore _store = new();
    private readonly CommandsInFlight _inFlight = new();
    private readonly Ownership _ownership;
    private readonly PaymentRecorder _recorder;

    public PaymentRecorderTests()
    {
        _ownership = new Ownership(_store, new ShardMap([_store], _time), _time, NullLogger<Ownership>.Instance);
        _recorder = NewRecorder();
    }

    [Fact]
    public async Task A_poison_command_is_rejected_and_the_others_of_its_batch_are_recorded()
    {
        var batch = Enter("acct-1", "acct-poison", "acct-2");
        _store.Fails = events => events.Any(e => e.Recorded.StreamId.EndsWith("poison", StringComparison.Ordinal))
            ? new InvalidCastException("a NUL in a text")
            : null;

        await RecordAsync(batch);

        Assert.Equal([true, false, true], batch.Select(command => command.Event() is not null));
        Assert.Contains("NUL", Assert.IsType<CommandResult.Rejected>(batch[1].Result).Reason, StringComparison.Ordinal);
        Assert.Equal(2, _store.Appended.Count);
    }

    [Fact]
    public async Task An_event_is_decided_at_a_whole_microsecond_so_that_its_own_time_finds_it()
    {
        _time.Advance(TimeSpan.FromTicks(7));
        var batch = Enter("acct-1");

        await RecordAsync(batch);

        Assert.Equal(_time.GetUtcNow().AddTicks(-7), _store.Appended[0].Fact.DecidedAt);
    }

    [Theory]
    [InlineData(PostgresErrorCodes.ReadOnlySqlTransaction)]
    [InlineData(PostgresErrorCodes.InsufficientPrivilege)]
    [InlineData(PostgresErrorCodes.DiskFull)]
    public async Task While_the_database_refuses_writes_they_are_retried_and_no_command_is_rejected(string sqlState)
    {
        var batch = Enter("acct-1", "acct-2");
        var attempts = 0;
        _store.Fails = _ => ++attempts < 20 ? new PostgresException("no", "ERROR", "ERROR", sqlState) : null;

        await RecordAsync(batch);

        Assert.All(batch, command => Assert.NotNull(command.Event()));
        Assert.Equal(20, attempts);
    }

    [Fact]
    public async Task An_event_that_was_committed_when_the_connection_broke_is_found_and_not_repeated()
    {
        var batch = Enter("acct-1");
        var attempts = 0;
        _store.FailsAfter = () => ++attempts == 1 ? new NpgsqlException("broken", new IOException()) : null;

        await RecordAsync(batch);

        Assert.Equal(1, batch[0].Event()!.Version);
        Assert.Single(_store.Appended);
    }

    [Fact]
    public async Task A_refusal_because_of_a_currency_from_a_failed_attempt_is_withdrawn()
    {
        var payment = Samples.PaymentCommand("acct-1");
        payment.Payment.Amount.CurrencyCode = "EUR";
        var limit = Samples.PaymentCommand("acct-1");
        limit.TransactionId = Guid.NewGuid().ToString();
        limit.CreditLimit = new SetCreditLimitRequest
        {
            TransactionId = limit.TransactionId,
            AccountId = "acct-1",
            PaymentType = PaymentType.Visa,
            Limit = Samples.Dollars(5),
        };
        var batch = _inFlight.Enter([new RecordingDelivery(payment), new RecordingDelivery(limit)], 0);
        // Meanwhile the payment has been reported as failed, and its id is closed.
        _store.Fails = events =>
        {
            if (events.All(e => e.Recorded.TransactionId != payment.TransactionId))
            {
                return null;
            }
            _store.Receipts[batch[0].Id] = new Wire.V1.Event();
            return Taken();
        };

        await RecordAsync(batch);

        Assert.IsNotType<CommandResult.Refused>(batch[1].Result);
        Assert.Equal(1, batch[1].Event()!.Version);
    }

    [Fact]
    public async Task Refunds_of_one_batch_are_never_more_than_the_payment_of_the_same_batch()
    {
        var payment = Samples.PaymentCommand("acct-1");
        var cents = (int)(payment.Payment.Amount.ToDecimal() * 100);
        var refunds = Enumerable.Range(0, 3).Select(_ => Samples.RefundCommand(payment, cents / 200m)).ToList();
        var batch = _inFlight.Enter([.. refunds.Prepend(payment).Select(command => new RecordingDelivery(command))], 0);

        await RecordAsync(batch);

        Assert.Equal([true, true, true, false], batch.Select(command => command.Event() is not null));
        Assert.Equal(ErrorReasons.AmountTooLarge, Assert.IsType<CommandResult.Refused>(batch[3].Result).Error.Reason);
        Assert.Equal(0, batch[2].Event()!.Balance.ToDecimal());
    }

    [Fact]
    public async Task A_refund_that_another_owner_has_recorded_meanwhile_counts()
    {
        var payment = Samples.PaymentCommand("acct-1");
        await RecordAsync(_inFlight.Enter([new RecordingDelivery(payment)], 0));
        var others = Samples.RefundCommand(payment, payment.Payment.Amount.ToDecimal());
        var batch = _inFlight.Enter(
            [new RecordingDelivery(Samples.RefundCommand(payment, payment.Payment.Amount.ToDecimal()))], 0);
        var raced = false;
        _store.Fails = events =>
        {
            if (raced)
            {
                return null;
            }
            raced = true;
            AddAsOther(_inFlight.Enter([new RecordingDelivery(others)], 0)[0]);
            return new PostgresException("moved", "ERROR", "ERROR", StoredFunction.StreamMoved);
        };

        await RecordAsync(batch);

        Assert.Equal(ErrorReasons.AmountTooLarge, Assert.IsType<CommandResult.Refused>(batch[0].Result).Error.Reason);
        Assert.Equal(2, _store.Appended.Count);
    }

    /// <summary>A backend gets a partition back with a command that it still has, and that the owner
    /// between has recorded.</summary>
    [Fact]
    public async Task An_expired_command_that_another_owner_recorded_gets_that_answer_and_its_event_again()
    {
        var command = Samples.PaymentCommand("acct-1");
        command.DeadlineUnixUs = _time.Microseconds() + 1_000_000;
        var batch = _inFlight.Enter([new RecordingDelivery(command)], 0);
        var opened = Limits.Opened(100);
        _store.Add(
            [NewEvent.Of("visa/acct-1", batch[0].Command.Decide(opened, null, _time.GetUtcNow()).Event!, opened)]);
        _time.Advance(TimeSpan.FromSeconds(2));

        await RecordAsync(batch);

        Assert.Equal(1, batch[0].Event()!.Version);
        Assert.Single(_store.Appended);
    }

    /// <summary>Two backends own the account for a while, as when partitions are added; each has a copy.</summary>
    [Fact]
    public async Task A_refund_whose_copy_another_owner_has_recorded_meanwhile_gets_its_answer_and_no_refusal()
    {
        var batch = await EnterRefundAsync();
        AddAsOther(batch[0]);

        await RecordAsync(batch);

        Assert.Equal(2, batch[0].Event()!.Version);
        Assert.Equal(2, _store.Appended.Count);
    }

    /// <summary>A backend that does not know the account yet reads it with what the copy has changed.</summary>
    [Fact]
    public async Task A_refund_whose_copy_was_recorded_after_its_receipt_was_looked_for_gets_its_answer_and_no_refusal()
    {
        var batch = await EnterRefundAsync();
        _store.Loading = _ =>
        {
            _store.Loading = _ => null;
            AddAsOther(batch[0]);
            return null;
        };

        await _time.RunToEndAsync(NewRecorder().RecordAsync(batch, CancellationToken.None));

        Assert.Equal(2, batch[0].Event()!.Version);
        Assert.Equal(2, _store.Appended.Count);
    }

    [Fact]
    public async Task One_id_for_two_accounts_is_recorded_for_each()
    {
        var other = Samples.PaymentCommand("acct-2", correlationId: 2);
        var batch = _inFlight.Enter(
            [new RecordingDelivery(Samples.PaymentCommand("acct-1", correlationId: 1)), new RecordingDelivery(other)],
            0);

        await RecordAsync(batch);

        Assert.Equal(["visa/acct-1", "visa/acct-2"], _store.Appended.Select(e => e.Recorded.StreamId));
        Assert.All(batch, command => Assert.NotNull(command.Answers(0).Single().Reply!.Payment));
    }

    [Fact]
    public async Task Commands_of_a_partition_with_a_later_owner_are_left_to_it_and_the_others_are_recorded()
    {
        var batch = Enter("acct-1", "acct-2");
        await _ownership.TakeOverAsync(batch, isAgain: false, CancellationToken.None);
        _store.Epochs[batch[0].Assignment.Partition]++;

        await RecordAsync(batch);

        Assert.True(batch[0].IsAbandoned);
        Assert.NotEqual(0, batch[0].Assignment.ReadAgainAt);
        Assert.True(batch[0].Assignment.IsFenced);
        Assert.NotNull(batch[1].Event());
        Assert.Same(batch[1].Event(), Assert.Single(_store.Appended).Recorded);
    }

    /// <summary>Otherwise its partition would wait for as long as one that another backend owns.</summary>
    [Fact]
    public async Task An_epoch_that_began_although_its_connection_broke_is_the_backends_own()
    {
        var batch = Enter("acct-1");
        await _ownership.TakeOverAsync(batch, isAgain: false, CancellationToken.None);
        var (failures, breaks) = (1, 1);
        _store.Fails = _ => failures-- > 0 ? new NpgsqlException("no answer", new TimeoutException()) : null;
        _store.EpochBreaks = () => breaks-- > 0 ? new NpgsqlException("no answer", new TimeoutException()) : null;

        await RecordAsync(batch);

        Assert.False(batch[0].Assignment.IsFenced);
        Assert.Equal(1, batch[0].Event()?.Version);
    }

    /// <summary>The present owner may have accepted the command before its deadline, or after what the former
    /// one does not know.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_former_owner_of_a_partition_refuses_nothing(bool isExpired)
    {
        var command =
            isExpired ? Samples.PaymentCommand("acct-1") : Samples.RefundCommand(Samples.PaymentCommand("acct-1"), 1);
        command.DeadlineUnixUs = _time.Microseconds() + 1_000_000;
        var batch = _inFlight.Enter(
            [new RecordingDelivery(command, new PartitionAssignment(new SourcePartition("acct-1", 0)))], 0);
        await _ownership.TakeOverAsync(batch, isAgain: false, CancellationToken.None);
        _store.Epochs[batch[0].Assignment.Partition]++;
        _time.Advance(TimeSpan.FromSeconds(isExpired ? 2 : 0));

        await RecordAsync(batch);

        Assert.True(batch[0].IsAbandoned);
    }

    /// <summary>It is recorded alone, or apart from one that keeps their batch from being recorded.</summary>
    [Theory]
    [InlineData("acct-1")]
    [InlineData("acct-1", "acct-bad")]
    public async Task An_event_committed_long_after_its_connection_broke_is_found_although_its_command_expired(
        params string[] accounts)
    {
        var batch = Enter(accounts);
        IReadOnlyList<NewEvent> late = [];
        _store.Fails = events =>
        {
            if (events.Any(e => e.Recorded.StreamId.EndsWith("bad", StringComparison.Ordinal)))
            {
                return new PostgresException("bad", "ERROR", "ERROR", PostgresErrorCodes.DataCorrupted);
            }
            late = events;
            batch[0].Deliveries.Single().Command.DeadlineUnixUs = _time.Microseconds();
            _time.Advance(TimeSpan.FromSeconds(1));
            return new NpgsqlException("no answer", new TimeoutException());
        };
        // Only what begins a new epoch waits for it.
        _store.EpochBegins = () =>
        {
            _store.Add(late);
            late = [];
        };

        await RecordAsync(batch);

        Assert.Equal(1, batch[0].Event()?.Version);
    }

    [Fact]
    public async Task Nothing_is_recorded_under_a_closed_id()
    {
        var batch = Enter("acct-1");
        _store.Receipts[batch[0].Id] = new Wire.V1.Event();
        _store.Fails = _ => Taken();

        await RecordAsync(batch);

        Assert.Equal(
            ErrorReasons.TransactionIdReused, Assert.IsType<CommandResult.Closed>(batch[0].Result).Error.Reason);
    }

    [Theory]
    [InlineData(PostgresErrorCodes.DataCorrupted)]
    [InlineData(PostgresErrorCodes.IoError)]
    [InlineData(StoredFunction.StreamMoved)]
    public async Task Commands_that_cannot_be_recorded_for_one_account_are_left_in_order_and_others_recorded(
        string sqlState)
    {
        var batch = Enter("acct-1", "acct-bad", "acct-2", "acct-3", "acct-bad", "acct-4", "acct-5");
        var attempts = 0;
        _store.Fails = events => ++attempts > 0
            && events.Any(e => e.Recorded.StreamId.EndsWith("bad", StringComparison.Ordinal))
            ? new PostgresException("bad", "ERROR", "ERROR", sqlState)
            : null;

        await RecordAsync(batch);

        Assert.Equal([batch[1], batch[4]], _recorder.NotRecordable);
        Assert.All(batch, command => Assert.Equal(!_recorder.NotRecordable.Contains(command), command.IsDone));
        Assert.Equal(5, _store.Appended.Count);
        Assert.InRange(attempts, EventStoreRetry.AttemptsTogether + 1, EventStoreRetry.AttemptsTogether + 6);
    }

    [Fact]
    public async Task An_event_of_a_newer_type_keeps_only_the_commands_of_its_account_from_being_recorded()
    {
        var batch = Enter("acct-1", "acct-newer");
        _store.Loading = ids => ids.Any(id => id.EndsWith("newer", StringComparison.Ordinal))
            ? new UnknownEventTypeException("refunded_v1")
            : null;

        await RecordAsync(batch);

        Assert.Same(batch[1], Assert.Single(_recorder.NotRecordable));
        Assert.NotNull(batch[0].Event());
    }

    [Fact]
    public async Task A_command_that_may_be_recorded_is_not_refused_as_expired_while_its_receipt_cannot_be_read()
    {
        var batch = Enter("acct-1", "acct-2");
        batch.ForEach(c => c.Deliveries.Single().Command.DeadlineUnixUs = UnixTime.Microseconds(_time.GetUtcNow()) + 1);
        _store.FailsAfter = () =>
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            _store.Searching = _ =>
                Task.FromException(new PostgresException("bad", "ERROR", "ERROR", PostgresErrorCodes.DataCorrupted));
            return new NpgsqlException("broken", new IOException());
        };

        await RecordAsync(batch);

        Assert.Equal(batch, _recorder.NotRecordable);
        Assert.All(batch, command => Assert.False(command.IsDone));
    }

    /// <summary>A shard was elsewhere, where an account changed, and came back to a database whose backend had read the
    /// account before and owned its partition all the time.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_command_is_not_refused_by_what_an_account_was_before(bool isEmpty)
    {
        var partition = new PartitionAssignment(new SourcePartition("visa", 0));
        var payment = Samples.PaymentCommand("acct-1");
        var first = _inFlight.Enter([new RecordingDelivery(payment, partition)], 0);
        await RecordAsync(first);
        _inFlight.Leave(first, 0);
        var last = _store.Appended[^1];
        var refund = new CommandsInFlight().Enter(
            [new RecordingDelivery(Samples.RefundCommand(payment, isEmpty ? 10 : 4))], 0)[0];
        _store.Add(
            [
                NewEvent.Of(
                    "visa/acct-1",
                    refund.Command.Decide(
                        last.After, Billing.Backends.Domain.PaymentState.Of(last.Fact), _time.GetUtcNow()).Event!,
                    last.After),
            ]);

        var close = Samples.PaymentCommand("acct-1");
        close.TransactionId = Guid.NewGuid().ToString();
        close.AccountStatus = new SetAccountStatusRequest
        {
            TransactionId = close.TransactionId,
            AccountId = "acct-1",
            PaymentType = PaymentType.Visa,
            AccountStatus = AccountStatus.Closed,
        };
        var batch = _inFlight.Enter([new RecordingDelivery(close, partition)], 0);
        await RecordAsync(batch);

        Assert.Equal(
            isEmpty ? null : "The account cannot be closed: it owes 6 USD, and 0 USD is on hold.",
            (batch[0].Result as CommandResult.Refused)?.Error.Message);
        Assert.Equal(isEmpty ? 3 : 2, _store.Appended.Count);
    }

    /// <summary>A backend was frozen while a shard was elsewhere, where its command may have been refused, and came
    /// back under a later number.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Nothing_is_recorded_or_refused_of_a_shard_that_was_elsewhere_since_its_commands_were_looked_up(
        bool isExpired)
    {
        var batch = Enter("acct-1");
        batch[0].Holder = (0, 1);
        batch[0].Deliveries.Single().Command.DeadlineUnixUs = isExpired ? _time.Microseconds() - 1 : 0;
        _store.Shards[batch[0].Shard] = 3;

        await RecordAsync(batch);

        Assert.True(batch[0].IsAbandoned);
        Assert.True(batch[0].Assignment.ReadAgainAt <= _time.GetTimestamp());
        Assert.Empty(_store.Appended);
    }

    private static PostgresException Taken() => new(
        "taken", "ERROR", "ERROR", PostgresErrorCodes.UniqueViolation, tableName: "mt_events",
        constraintName: EventStoreSchema.OneEventForEachCommand);

    // A refund of all of a payment that is recorded.
    private async Task<List<PendingCommand>> EnterRefundAsync()
    {
        var payment = Samples.PaymentCommand("acct-1");
        await RecordAsync(_inFlight.Enter([new RecordingDelivery(payment)], 0));
        return _inFlight.Enter(
            [new RecordingDelivery(Samples.RefundCommand(payment, payment.Payment.Amount.ToDecimal()))], 0);
    }

    // Stores what another owner of the account has made of a command that follows up its last payment.
    private void AddAsOther(PendingCommand command)
    {
        var last = _store.Appended[^1];
        var fact = command.Command.Decide(
            last.After, Billing.Backends.Domain.PaymentState.Of(last.Fact), _time.GetUtcNow()).Event!;
        _store.Add([NewEvent.Of("visa/acct-1", fact, last.After)]);
    }

    private PaymentRecorder NewRecorder() => new(
        _store, _ownership, new EventStoreRetry(_time),
        Options.Create(new BackendOptions { OpeningLimits = { ["USD"] = "10000" }, CachedAccountsMax = 1000 }), _time,
        NullLogger<PaymentRecorder>.Instance);

    private Task RecordAsync(List<PendingCommand> batch) =>
        _time.RunToEndAsync(_recorder.RecordAsync(batch, CancellationToken.None));

    private List<PendingCommand> Enter(params string[] accounts) => _inFlight.Enter(
        [
            .. accounts.Select(account =>
            {
                var command = Samples.PaymentCommand(account);
                command.TransactionId = command.Payment.TransactionId = Guid.NewGuid().ToString();
                return new RecordingDelivery(command, new PartitionAssignment(new SourcePartition(account, 0)));
            }),
        ], 0);
}
