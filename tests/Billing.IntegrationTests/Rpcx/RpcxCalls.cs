using System.Collections.Concurrent;
using Billing.Rpc.Rpcx;
using Billing.V1;
using Grpc.Core;
using static Billing.IntegrationTests.Rpcx.RpcxPair;

namespace Billing.IntegrationTests.Rpcx;

public sealed class RpcxCalls
{
    [Fact]
    public async Task A_call_through_a_proxy_gets_the_reply_of_the_implementation()
    {
        await using var pair = await RpcxPair.StartAsync();
        var payments = pair.Client().Proxy<IPayments>();
        Assert.Equal(12, (await payments.PayAsync(Request(12), default)).Version);
        Assert.Equal(7, (await payments.CheckAsync(new CheckBalanceRequest { AccountId = "a" }, default)).Version);
    }

    [Theory]
    [InlineData(1, RpcxDispatch.Inline)]
    [InlineData(3, RpcxDispatch.Inline)]
    [InlineData(1, RpcxDispatch.ThreadPool)]
    public async Task Each_of_many_calls_in_flight_gets_its_own_reply(int connections, RpcxDispatch dispatch)
    {
        await using var pair = await RpcxPair.StartAsync(options => options.InFlightMax = 100, dispatch);
        pair.Pay = async (request, _) =>
        {
            if (request.Amount.Units % 3 == 0)
            {
                await Task.Yield();
            }
            return Answer(request);
        };
        var payments = pair.Client(options => options.Connections = connections).Proxy<IPayments>();
        var callers = Enumerable.Range(0, 200).Select(async caller =>
        {
            for (var i = 0; i < 50; i++)
            {
                var units = (caller * 50) + i;
                Assert.Equal(units, (await payments.PayAsync(Request(units), default)).Version);
            }
        });
        await Task.WhenAll(callers);
    }

    [Fact]
    public async Task Replies_arrive_in_the_order_in_which_the_calls_end()
    {
        await using var pair = await RpcxPair.StartAsync();
        var held = new ConcurrentDictionary<long, TaskCompletionSource<MakePaymentResponse>>();
        var allHeld = new CountdownEvent(50);
        pair.Pay = (request, _) =>
        {
            var answer = held.GetOrAdd(request.Amount.Units, _ => new(TaskCreationOptions.RunContinuationsAsynchronously));
            allHeld.Signal();
            return answer.Task;
        };
        var payments = pair.Client().Proxy<IPayments>();
        var calls = Enumerable.Range(0, 50).Select(i => payments.PayAsync(Request(i), default)).ToList();
        await Task.Run(() => allHeld.Wait(TestContext.Current.CancellationToken), TestContext.Current.CancellationToken);
        for (var i = 49; i >= 0; i--)
        {
            Assert.False(calls[i].IsCompleted);
            held[i].SetResult(Answer(Request(i)));
            Assert.Equal(i, (await calls[i]).Version);
        }
    }

    [Fact]
    public async Task A_slow_call_does_not_delay_the_others_on_its_connection()
    {
        await using var pair = await RpcxPair.StartAsync();
        var slow = new TaskCompletionSource<MakePaymentResponse>();
        pair.Pay = (request, _) => request.AccountId == "slow" ? slow.Task : Task.FromResult(Answer(request));
        var payments = pair.Client().Proxy<IPayments>();
        var waiting = payments.PayAsync(Request(account: "slow"), default);
        for (var i = 0; i < 100; i++)
        {
            await payments.PayAsync(Request(), default);
        }
        Assert.False(waiting.IsCompleted);
        slow.SetResult(Answer(Request(5)));
        Assert.Equal(5, (await waiting).Version);
    }

    [Fact]
    public async Task An_implementation_that_blocks_a_thread_of_the_pool_does_not_delay_other_calls()
    {
        await using var pair = await RpcxPair.StartAsync(dispatch: RpcxDispatch.ThreadPool);
        using var blocked = new ManualResetEventSlim();
        pair.Pay = (request, _) =>
        {
            if (request.AccountId == "slow")
            {
                blocked.Wait();
            }
            return Task.FromResult(Answer(request));
        };
        var payments = pair.Client().Proxy<IPayments>();
        var waiting = payments.PayAsync(Request(account: "slow"), default);
        await payments.PayAsync(Request(), default);
        Assert.False(waiting.IsCompleted);
        blocked.Set();
        await waiting;
    }

    [Fact]
    public async Task The_callers_continuation_may_block_without_delaying_other_replies()
    {
        await using var pair = await RpcxPair.StartAsync();
        var answer = new TaskCompletionSource<MakePaymentResponse>();
        pair.Pay = (request, _) => request.AccountId == "blocks" ? answer.Task : Task.FromResult(Answer(request));
        var payments = pair.Client().Proxy<IPayments>();
        using var second = new ManualResetEventSlim();
        var blocking = payments.PayAsync(Request(account: "blocks"), default).ContinueWith(
            _ => second.Wait(), CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        answer.SetResult(Answer(Request()));
        await payments.PayAsync(Request(), default);
        second.Set();
        await blocking;
    }

    [Fact]
    public async Task An_error_of_an_implementation_reaches_the_caller_with_all_its_fields()
    {
        await using var pair = await RpcxPair.StartAsync();
        pair.Pay = (_, _) => throw new RpcxException(StatusCode.InvalidArgument, "INVALID_FIELD", "amount.units is negative", "amount.units");
        var e = await Assert.ThrowsAsync<RpcxException>(
            () => pair.Client().Proxy<IPayments>().PayAsync(Request(), default));
        Assert.Equal(
            (StatusCode.InvalidArgument, "INVALID_FIELD", "amount.units is negative", "amount.units"),
            (e.StatusCode, e.Reason, e.Message, e.Field));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_unexpected_exception_is_logged_and_hidden_from_the_caller(bool later)
    {
        await using var pair = await RpcxPair.StartAsync();
        pair.Pay = async (_, _) =>
        {
            if (later)
            {
                await Task.Yield();
            }
            throw new InvalidOperationException("the password is secret");
        };
        var e = await Assert.ThrowsAsync<RpcxException>(
            () => pair.Client().Proxy<IPayments>().PayAsync(Request(), default));
        Assert.Equal((StatusCode.Internal, RpcxReasons.HandlerFailed), (e.StatusCode, e.Reason));
        Assert.Equal("till/p failed; the server's log has the reason.", e.Message);
        Assert.Contains("The implementation of till/p failed", pair.Log.Messages);
    }

    [Fact]
    public async Task A_null_reply_is_a_failure_of_the_implementation()
    {
        await using var pair = await RpcxPair.StartAsync();
        var payments = pair.Client().Proxy<IPayments>();
        pair.Pay = (_, _) => Task.FromResult<MakePaymentResponse>(null!);
        var e = await Assert.ThrowsAsync<RpcxException>(() => payments.PayAsync(Request(), default));
        Assert.Equal(RpcxReasons.HandlerFailed, e.Reason);
        pair.Pay = (_, _) => null!;
        e = await Assert.ThrowsAsync<RpcxException>(() => payments.PayAsync(Request(), default));
        Assert.Equal(RpcxReasons.HandlerFailed, e.Reason);
    }

    [Fact]
    public async Task An_unknown_method_is_unimplemented_and_does_not_affect_others()
    {
        await using var pair = await RpcxPair.StartAsync();
        var client = pair.Client();
        var known = client.Proxy<IPayments>();
        await known.PayAsync(Request(), default);
        // The method number is announced on an existing connection.
        var withRefunds = client.Proxy<IPaymentsWithRefunds>();
        var e = await Assert.ThrowsAsync<RpcxException>(() => withRefunds.RefundAsync(Request(), default));
        Assert.Equal((StatusCode.Unimplemented, RpcxReasons.MethodUnknown), (e.StatusCode, e.Reason));
        Assert.Equal("The server publishes no till/refund.", e.Message);
        await withRefunds.PayAsync(Request(), default);
        await known.PayAsync(Request(), default);
    }

    [Fact]
    public async Task An_unreadable_reply_fails_only_its_call()
    {
        await using var pair = await RpcxPair.StartAsync();
        // Field 4 of the reply is a string, and the client expects a nested message there; the string is no valid message.
        pair.Pay = (request, _) => Task.FromResult(new MakePaymentResponse { TransactionId = "a", Message = "\u0001" });
        var client = pair.Client();
        var e = await Assert.ThrowsAsync<RpcxException>(
            () => client.Proxy<IPaymentsWithWrongReply>().PayAsync(Request(), default));
        Assert.Equal(RpcxReasons.ReplyUnreadable, e.Reason);
        Assert.Equal("a", (await client.Proxy<IPayments>().PayAsync(Request(), default)).TransactionId);
    }

    [Fact]
    public async Task A_request_that_is_too_long_for_the_server_is_not_sent()
    {
        await using var pair = await RpcxPair.StartAsync(options => options.FrameBytesMax = 1_000);
        var payments = pair.Client().Proxy<IPayments>();
        var e = await Assert.ThrowsAsync<RpcxException>(() => payments.PayAsync(Request(account: new string('a', 1_000)), default));
        Assert.Equal((StatusCode.ResourceExhausted, RpcxReasons.FrameTooLarge), (e.StatusCode, e.Reason));
        await payments.PayAsync(Request(), default);
        Assert.DoesNotContain(pair.Log.Messages, m => m.Contains("lost", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_reply_that_is_too_long_for_the_client_fails_only_its_call()
    {
        await using var pair = await RpcxPair.StartAsync();
        pair.Pay = (request, _) => Task.FromResult(new MakePaymentResponse { Message = new string('a', (int)request.Amount.Units) });
        var payments = pair.Client(options => options.FrameBytesMax = 1_000).Proxy<IPayments>();
        var e = await Assert.ThrowsAsync<RpcxException>(() => payments.PayAsync(Request(2_000), default));
        Assert.Equal((StatusCode.ResourceExhausted, RpcxReasons.FrameTooLarge), (e.StatusCode, e.Reason));
        Assert.Equal(900, (await payments.PayAsync(Request(900), default)).Message.Length);
    }

    [Fact]
    public async Task Large_and_small_messages_arrive_unchanged_on_one_connection()
    {
        await using var pair = await RpcxPair.StartAsync();
        pair.Pay = (request, _) => Task.FromResult(new MakePaymentResponse { Message = request.AccountId });
        var payments = pair.Client().Proxy<IPayments>();
        var texts = Enumerable.Range(0, 60).Select(i => new string((char)('a' + (i % 26)), i % 5 == 0 ? 300_000 + i : i)).ToList();
        var replies = await Task.WhenAll(texts.Select(text => payments.PayAsync(Request(account: text), default)));
        Assert.Equal(texts, replies.Select(r => r.Message));
    }
}
