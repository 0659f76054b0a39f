using Billing.Contracts;
using Billing.Messaging;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Messaging;

public sealed class PendingRepliesTests : IDisposable
{
    private readonly ManualTime _time = new();
    private readonly PendingReplies _pending;

    public PendingRepliesTests() => _pending = new PendingReplies(_time);

    public void Dispose() => _pending.Dispose();

    [Fact]
    public async Task A_reply_that_arrives_before_the_await_is_kept()
    {
        var command = Samples.PaymentCommand();
        var waiting = _pending.Register(command);
        var reply = new Reply { CorrelationId = command.CorrelationId };
        Assert.True(_pending.Complete(reply));
        Assert.Same(reply, await waiting);
        Assert.Equal(0, _pending.Count);
    }

    [Fact]
    public async Task A_reply_that_arrives_after_the_await_completes_the_call()
    {
        var command = Samples.PaymentCommand();
        var caller = CallAsync();
        Assert.False(caller.IsCompleted);
        Assert.True(_pending.Complete(new Reply { CorrelationId = command.CorrelationId }));
        Assert.Equal(command.CorrelationId, await caller);

        async Task<ulong> CallAsync() => (await _pending.Register(command)).CorrelationId;
    }

    [Fact]
    public async Task A_reply_without_a_waiting_call_is_refused()
    {
        Assert.False(_pending.Complete(new Reply { CorrelationId = 99 }));
        var command = Samples.PaymentCommand();
        var waiting = _pending.Register(command);
        var reply = new Reply { CorrelationId = command.CorrelationId };
        Assert.True(_pending.Complete(reply));
        Assert.False(_pending.Complete(reply));
        await waiting;
    }

    [Fact]
    public void A_reply_for_another_transaction_does_not_match_the_call()
    {
        var command = Samples.PaymentCommand();
        _pending.Register(command);
        Reply Paid(string transactionId) => new()
        {
            CorrelationId = command.CorrelationId,
            Payment = new V1.MakePaymentResponse { TransactionId = transactionId },
        };

        Assert.True(_pending.MatchesCall(Paid(Samples.TransactionId)));
        Assert.True(_pending.MatchesCall(Paid(Samples.TransactionId.ToUpperInvariant())));
        Assert.False(_pending.MatchesCall(Paid(Guid.NewGuid().ToString())));
        Assert.False(_pending.MatchesCall(Paid("")));
        var status = new PaymentStatus { Payment = Paid(Guid.NewGuid().ToString()).Payment };
        Assert.False(_pending.MatchesCall(new Reply { CorrelationId = command.CorrelationId, PaymentStatus = status }));
        Assert.True(_pending.MatchesCall(new Reply { CorrelationId = command.CorrelationId, Error = new Error() }));
    }

    [Fact]
    public void Correlation_ids_start_at_a_different_number_in_every_proxy()
    {
        using var other = new PendingReplies(_time);
        var (one, two) = (Samples.PaymentCommand(), Samples.PaymentCommand());
        _pending.Register(one);
        other.Register(two);
        Assert.NotEqual(one.CorrelationId, two.CorrelationId);
    }

    [Fact]
    public void Correlation_ids_are_unique_and_not_zero()
    {
        var commands = Enumerable.Range(0, 100).Select(_ => Samples.PaymentCommand()).ToList();
        commands.ForEach(command => _pending.Register(command));
        Assert.Equal(100, commands.Select(c => c.CorrelationId).Distinct().Count());
        Assert.DoesNotContain(0UL, commands.Select(c => c.CorrelationId));
        Assert.Equal(100, _pending.Count);
    }

    [Fact]
    public async Task A_call_past_its_deadline_gets_DEADLINE_EXCEEDED_with_the_reason()
    {
        var command = Samples.PaymentCommand();
        command.DeadlineUnixUs = _time.Microseconds() + 1_000_000;
        var waiting = _pending.Register(command);
        _time.Advance(TimeSpan.FromMilliseconds(999));
        Assert.False(waiting.IsCompleted);
        _time.Advance(TimeSpan.FromMilliseconds(100));
        var error = (await waiting).Error;
        Assert.Equal((int)StatusCode.DeadlineExceeded, error.StatusCode);
        Assert.Equal(ErrorReasons.NoAnswerInTime, error.Reason);
        Assert.Contains("same transaction_id", error.Message, StringComparison.Ordinal);
        Assert.False(_pending.Complete(new Reply { CorrelationId = command.CorrelationId }));
        Assert.Equal(0, _pending.Count);
    }

    [Fact]
    public async Task Only_the_calls_past_their_deadline_expire()
    {
        var soon = Samples.PaymentCommand();
        soon.DeadlineUnixUs = _time.Microseconds() + 1;
        var late = Samples.PaymentCommand();
        late.DeadlineUnixUs = _time.Microseconds() + 3_600_000_000;
        var never = Samples.PaymentCommand();
        var first = _pending.Register(soon);
        var second = _pending.Register(late);
        var third = _pending.Register(never);
        _time.Advance(TimeSpan.FromMinutes(1));
        await first;
        Assert.False(second.IsCompleted);
        _time.Advance(TimeSpan.FromHours(1));
        await second;
        Assert.False(third.IsCompleted);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(-1)]
    public async Task Setting_the_wall_clock_by_an_hour_does_not_move_a_deadline(int hours)
    {
        var command = Samples.PaymentCommand();
        command.DeadlineUnixUs = _time.Microseconds() + 1_000_000;
        var waiting = _pending.Register(command);
        _time.Set(TimeSpan.FromHours(hours));
        _time.Advance(TimeSpan.FromMilliseconds(999));
        Assert.False(waiting.IsCompleted);
        _time.Advance(TimeSpan.FromMilliseconds(51));
        Assert.Equal(ErrorReasons.NoAnswerInTime, (await waiting).Error.Reason);
    }

    [Fact]
    public async Task A_call_registered_after_its_deadline_expires_with_the_next_sweep()
    {
        var command = Samples.PaymentCommand();
        command.DeadlineUnixUs = _time.Microseconds() - 3_600_000_000;
        var waiting = _pending.Register(command);
        _time.Advance(TimeSpan.FromMilliseconds(50));
        Assert.Equal((int)StatusCode.DeadlineExceeded, (await waiting).Error.StatusCode);
    }

    [Fact]
    public void A_call_with_the_largest_possible_deadline_does_not_expire()
    {
        var command = Samples.PaymentCommand();
        command.DeadlineUnixUs = long.MaxValue;
        var waiting = _pending.Register(command);
        _time.Advance(TimeSpan.FromHours(1));
        Assert.False(waiting.IsCompleted);
    }

    [Fact]
    public async Task Each_of_many_concurrent_calls_gets_its_own_reply()
    {
        const int Callers = 8;
        const int CallsEach = 2_000;
        var sent = System.Threading.Channels.Channel.CreateUnbounded<Command>();
        var callers = Enumerable.Range(0, Callers).Select(c => Task.Run(async () =>
        {
            for (var i = 0; i < CallsEach; i++)
            {
                var command = Samples.PaymentCommand(units: (c * CallsEach) + i + 1);
                var waiting = _pending.Register(command);
                await sent.Writer.WriteAsync(command);
                Assert.Equal(command.Payment.Amount.Units, (await waiting).Payment.Version);
            }
        })).ToList();
        var backends = Enumerable.Range(0, 4).Select(_ => Task.Run(async () =>
        {
            await foreach (var command in sent.Reader.ReadAllAsync())
            {
                Assert.True(_pending.Complete(Answer(command)));
            }
        })).ToList();
        await Task.WhenAll(callers);
        sent.Writer.Complete();
        await Task.WhenAll(backends);
        Assert.Equal(0, _pending.Count);
    }

    [Fact]
    public async Task Replies_and_deadlines_that_race_end_each_call_once_and_leave_no_entry()
    {
        const int Calls = 3_000;
        var commands = new List<Command>(Calls);
        var waiting = new List<Task<Reply>>(Calls);
        for (var i = 0; i < Calls; i++)
        {
            var command = Samples.PaymentCommand(units: i + 1);
            command.DeadlineUnixUs = _time.Microseconds() + 1;
            waiting.Add(_pending.Register(command));
            commands.Add(command);
        }
        var completed = 0;
        var replying = Task.Run(() => commands.ForEach(c => completed += _pending.Complete(Answer(c)) ? 1 : 0));
        var expiring = Task.Run(() => _time.Advance(TimeSpan.FromSeconds(1)));
        await Task.WhenAll(replying, expiring);
        Assert.Equal(completed, (await Task.WhenAll(waiting)).Count(reply => reply.Payment is not null));
        Assert.Equal(0, _pending.Count);
    }

    [Fact]
    public async Task A_callers_code_never_runs_on_the_thread_that_delivers_the_reply()
    {
        var command = Samples.PaymentCommand();
        var ranOn = _pending.Register(command).ContinueWith(
            _ => Environment.CurrentManagedThreadId, CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        var consumer = new Thread(() => _pending.Complete(new Reply { CorrelationId = command.CorrelationId }));
        consumer.Start();
        consumer.Join();
        Assert.NotEqual(consumer.ManagedThreadId, await ranOn);
    }

    private static Reply Answer(Command command) => new()
    {
        CorrelationId = command.CorrelationId,
        Payment = new V1.MakePaymentResponse { Version = command.Payment.Amount.Units },
    };
}
