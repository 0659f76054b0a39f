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
        var (id, waiting) = _pending.Register(Samples.PaymentRequest());
        var reply = new Reply { CorrelationId = id };
        Assert.True(_pending.Complete(reply));
        Assert.Same(reply, await waiting);
        Assert.Equal(0, _pending.Count);
    }

    [Fact]
    public async Task A_reply_that_arrives_after_the_await_completes_the_call()
    {
        var (id, waiting) = _pending.Register(Samples.PaymentRequest());
        var caller = CallAsync();
        Assert.False(caller.IsCompleted);
        Assert.True(_pending.Complete(new Reply { CorrelationId = id }));
        Assert.Equal(id, await caller);

        async Task<ulong> CallAsync() => (await waiting).CorrelationId;
    }

    [Fact]
    public async Task A_reply_without_a_waiting_call_is_refused()
    {
        Assert.False(_pending.Complete(new Reply { CorrelationId = 99 }));
        var (id, waiting) = _pending.Register(Samples.PaymentRequest());
        var reply = new Reply { CorrelationId = id };
        Assert.True(_pending.Complete(reply));
        Assert.False(_pending.Complete(reply));
        await waiting;
    }

    [Fact]
    public void A_reply_for_another_transaction_does_not_match_the_call()
    {
        var (id, _) = _pending.Register(Samples.PaymentRequest());
        Reply Paid(string transactionId) => new()
        {
            CorrelationId = id,
            Payment = new V1.MakePaymentResponse { TransactionId = transactionId },
        };

        Assert.True(_pending.MatchesCall(Paid(Samples.TransactionId)));
        Assert.True(_pending.MatchesCall(Paid(Samples.TransactionId.ToUpperInvariant())));
        Assert.False(_pending.MatchesCall(Paid(Guid.NewGuid().ToString())));
        Assert.False(_pending.MatchesCall(Paid("")));
        var status = new PaymentStatus { Payment = Paid(Guid.NewGuid().ToString()).Payment };
        Assert.False(_pending.MatchesCall(new Reply { CorrelationId = id, PaymentStatus = status }));
        Assert.True(_pending.MatchesCall(new Reply { CorrelationId = id, Error = new Error() }));
    }

    [Fact]
    public void A_correlation_id_tells_nothing_about_the_next_one()
    {
        var ids = Enumerable.Range(0, 200)
            .Select(_ => _pending.Register(Samples.PaymentRequest()).CorrelationId).ToList();

        var steps = ids.Zip(ids.Skip(1), (one, next) => unchecked(next - one)).ToList();
        Assert.Equal(steps.Count, steps.Distinct().Count());
        Assert.All(steps, step => Assert.NotInRange(step, 0UL, 1UL << 32));
    }

    [Fact]
    public void A_number_that_a_waiting_call_has_is_no_correlation_id_of_another_one()
    {
        var numbers = new Queue<ulong>([5, 0, 5, 7]);
        using var pending = new PendingReplies(_time, numbers.Dequeue);
        Assert.Equal(5UL, pending.Register(Samples.PaymentRequest()).CorrelationId);
        Assert.Equal(7UL, pending.Register(Samples.PaymentRequest()).CorrelationId);
    }

    [Fact]
    public void Correlation_ids_are_unique_and_not_zero()
    {
        var ids = Enumerable.Range(0, 100)
            .Select(_ => _pending.Register(Samples.PaymentRequest()).CorrelationId).ToList();
        Assert.Equal(100, ids.Distinct().Count());
        Assert.DoesNotContain(0UL, ids);
        Assert.Equal(100, _pending.Count);
    }

    [Fact]
    public async Task A_call_past_its_deadline_gets_DEADLINE_EXCEEDED_with_the_reason()
    {
        var (id, waiting) = _pending.Register(
            Samples.PaymentRequest() with { DeadlineUnixUs = _time.Microseconds() + 1_000_000 });
        _time.Advance(TimeSpan.FromMilliseconds(999));
        Assert.False(waiting.IsCompleted);
        _time.Advance(TimeSpan.FromMilliseconds(100));
        var error = (await waiting).Error;
        Assert.Equal((int)StatusCode.DeadlineExceeded, error.StatusCode);
        Assert.Equal(ErrorReasons.NoAnswerInTime, error.Reason);
        Assert.Contains("same transaction_id", error.Message, StringComparison.Ordinal);
        Assert.False(_pending.Complete(new Reply { CorrelationId = id }));
        Assert.Equal(0, _pending.Count);
    }

    [Fact]
    public async Task Only_the_calls_past_their_deadline_expire()
    {
        var (_, first) = _pending.Register(Samples.PaymentRequest() with { DeadlineUnixUs = _time.Microseconds() + 1 });
        var (_, second) = _pending.Register(
            Samples.PaymentRequest() with { DeadlineUnixUs = _time.Microseconds() + 3_600_000_000 });
        var (_, third) = _pending.Register(Samples.PaymentRequest());
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
        var (_, waiting) = _pending.Register(
            Samples.PaymentRequest() with { DeadlineUnixUs = _time.Microseconds() + 1_000_000 });
        _time.Set(TimeSpan.FromHours(hours));
        _time.Advance(TimeSpan.FromMilliseconds(999));
        Assert.False(waiting.IsCompleted);
        _time.Advance(TimeSpan.FromMilliseconds(51));
        Assert.Equal(ErrorReasons.NoAnswerInTime, (await waiting).Error.Reason);
    }

    [Fact]
    public async Task A_call_registered_after_its_deadline_expires_with_the_next_sweep()
    {
        var (_, waiting) = _pending.Register(
            Samples.PaymentRequest() with { DeadlineUnixUs = _time.Microseconds() - 3_600_000_000 });
        _time.Advance(TimeSpan.FromMilliseconds(50));
        Assert.Equal((int)StatusCode.DeadlineExceeded, (await waiting).Error.StatusCode);
    }

    [Fact]
    public void A_call_with_the_largest_possible_deadline_does_not_expire()
    {
        var (_, waiting) = _pending.Register(Samples.PaymentRequest() with { DeadlineUnixUs = long.MaxValue });
        _time.Advance(TimeSpan.FromHours(1));
        Assert.False(waiting.IsCompleted);
    }

    [Fact]
    public async Task Each_of_many_concurrent_calls_gets_its_own_reply()
    {
        const int Callers = 8;
        const int CallsEach = 2_000;
        var sent = System.Threading.Channels.Channel.CreateUnbounded<(ulong Id, long Units)>();
        var callers = Enumerable.Range(0, Callers).Select(c => Task.Run(async () =>
        {
            for (var i = 0; i < CallsEach; i++)
            {
                var units = (c * CallsEach) + i + 1;
                var (id, waiting) = _pending.Register(Samples.PaymentRequest(units: units));
                await sent.Writer.WriteAsync((id, units));
                Assert.Equal(units, (await waiting).Payment.Version);
            }
        })).ToList();
        var backends = Enumerable.Range(0, 4).Select(_ => Task.Run(async () =>
        {
            await foreach (var (id, units) in sent.Reader.ReadAllAsync())
            {
                Assert.True(_pending.Complete(Answer(id, units)));
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
        var ids = new List<ulong>(Calls);
        var waiting = new List<Task<Reply>>(Calls);
        for (var i = 0; i < Calls; i++)
        {
            var (id, reply) = _pending.Register(
                Samples.PaymentRequest(units: i + 1) with { DeadlineUnixUs = _time.Microseconds() + 1 });
            waiting.Add(reply);
            ids.Add(id);
        }
        var completed = 0;
        var replying = Task.Run(() => ids.ForEach(id => completed += _pending.Complete(Answer(id, 1)) ? 1 : 0));
        var expiring = Task.Run(() => _time.Advance(TimeSpan.FromSeconds(1)));
        await Task.WhenAll(replying, expiring);
        Assert.Equal(completed, (await Task.WhenAll(waiting)).Count(reply => reply.Payment is not null));
        Assert.Equal(0, _pending.Count);
    }

    [Fact]
    public async Task A_callers_code_never_runs_on_the_thread_that_delivers_the_reply()
    {
        var (id, waiting) = _pending.Register(Samples.PaymentRequest());
        var ranOn = waiting.ContinueWith(
            _ => Environment.CurrentManagedThreadId, CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        var consumer = new Thread(() => _pending.Complete(new Reply { CorrelationId = id }));
        consumer.Start();
        consumer.Join();
        Assert.NotEqual(consumer.ManagedThreadId, await ranOn);
    }

    private static Reply Answer(ulong id, long units) => new()
    {
        CorrelationId = id,
        Payment = new V1.MakePaymentResponse { Version = units },
    };
}
