using System.Net;
using System.Net.Sockets;
using Billing.Hosting;
using Billing.Rpc.Rpcx;
using Billing.V1;
using Grpc.Core;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;
using static Billing.IntegrationTests.Rpcx.RpcxPair;

namespace Billing.IntegrationTests.Rpcx;

public sealed class RpcxCalls
{
    [Theory]
    [InlineData(1, RpcxDispatch.Inline)]
    [InlineData(3, RpcxDispatch.Inline)]
    [InlineData(1, RpcxDispatch.ThreadPool)]
    public async Task Each_of_many_calls_in_flight_gets_its_own_reply(int connections, RpcxDispatch dispatch)
    {
        await using var pair = await RpcxPair.StartAsync(dispatch, inFlightMax: 100);
        pair.Pay = async request =>
        {
            if (request.Amount.Units % 3 == 0)
            {
                await Task.Yield();
            }
            return Answer(request);
        };
        var payments = pair.Client(connections).Proxy<IPayments>();
        var callers = Enumerable.Range(0, 200).Select(async caller =>
        {
            for (var i = 0; i < 50; i++)
            {
                var units = (caller * 50) + i;
                Assert.Equal(units, (await payments.PayAsync(Request(units))).Version);
            }
        });
        await Task.WhenAll(callers);
        Assert.Equal(7, (await payments.CheckAsync(new CheckBalanceRequest { AccountId = "a" })).Version);
    }

    [Fact]
    public async Task A_slow_call_does_not_delay_the_others_on_its_connection()
    {
        await using var pair = await RpcxPair.StartAsync();
        var slow = new TaskCompletionSource<MakePaymentResponse>();
        pair.Pay = request => request.AccountId == "slow" ? slow.Task : Task.FromResult(Answer(request));
        var payments = pair.Client().Proxy<IPayments>();
        var waiting = payments.PayAsync(Request(account: "slow"));
        for (var i = 0; i < 100; i++)
        {
            await payments.PayAsync(Request());
        }
        Assert.False(waiting.IsCompleted);
        slow.SetResult(Answer(Request(5)));
        Assert.Equal(5, (await waiting).Version);
    }

    [Fact]
    public async Task An_implementation_that_blocks_a_thread_of_the_pool_does_not_delay_other_calls()
    {
        await using var pair = await RpcxPair.StartAsync(RpcxDispatch.ThreadPool);
        using var blocked = new ManualResetEventSlim();
        pair.Pay = request =>
        {
            if (request.AccountId == "slow")
            {
                blocked.Wait();
            }
            return Task.FromResult(Answer(request));
        };
        var payments = pair.Client().Proxy<IPayments>();
        var waiting = payments.PayAsync(Request(account: "slow"));
        await payments.PayAsync(Request());
        Assert.False(waiting.IsCompleted);
        blocked.Set();
        await waiting;
    }

    [Fact]
    public async Task The_callers_continuation_may_block_without_delaying_other_replies()
    {
        await using var pair = await RpcxPair.StartAsync();
        var payments = pair.Client().Proxy<IPayments>();
        using var second = new ManualResetEventSlim();
        // A continuation of a call that is answered already would run at once, on this thread.
        var isContinued = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var pay = pair.Pay;
        pair.Pay = async request =>
        {
            await isContinued.Task;
            return await pay(request);
        };
        var blocking = payments.PayAsync(Request()).ContinueWith(
            _ => second.Wait(), CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        isContinued.SetResult();
        await payments.PayAsync(Request());
        second.Set();
        await blocking;
    }

    [Fact]
    public async Task An_error_of_an_implementation_reaches_the_caller()
    {
        await using var pair = await RpcxPair.StartAsync();
        pair.Pay = _ => throw new RpcxException(StatusCode.InvalidArgument, "amount.units is negative");
        var e = await FailureAsync(pair.Client().Proxy<IPayments>().PayAsync(Request()));
        Assert.Equal((StatusCode.InvalidArgument, "amount.units is negative"), (e.StatusCode, e.Message));
    }

    private static readonly Func<MakePaymentRequest, Task<MakePaymentResponse>>[] Failing =
    [
        _ => throw new InvalidOperationException("the password is secret"),
        async _ =>
        {
            await Task.Yield();
            throw new InvalidOperationException("the password is secret");
        },
        _ => Task.FromResult<MakePaymentResponse>(null!),
        _ => null!,
    ];

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task A_failure_of_an_implementation_is_logged_and_hidden_from_the_caller(int failing)
    {
        await using var pair = await RpcxPair.StartAsync();
        pair.Pay = Failing[failing];
        var e = await FailureAsync(pair.Client().Proxy<IPayments>().PayAsync(Request()));
        Assert.Equal(
            (StatusCode.Internal, "till/p failed; the server's log has the reason."), (e.StatusCode, e.Message));
        Assert.Contains("The implementation of till/p failed", pair.Log);
    }

    [Fact]
    public async Task An_unknown_method_and_an_unreadable_reply_fail_only_their_calls()
    {
        await using var pair = await RpcxPair.StartAsync();
        // Field 4 of the reply is a string, and the client expects a nested message there;
        // the string is no valid message.
        pair.Pay = _ => Task.FromResult(new MakePaymentResponse { TransactionId = "a", Message = "\u0001" });
        var client = pair.Client();
        var other = client.Proxy<IOtherPayments>();
        Assert.Equal(StatusCode.Unimplemented, (await FailureAsync(other.RefundAsync(Request()))).StatusCode);
        Assert.Equal(
            (StatusCode.Internal, "The reply is not a StatementEntry."),
            (await FailureAsync(other.PayAsync(Request())) is var e ? (e.StatusCode, e.Message) : default));
        Assert.Equal("a", (await client.Proxy<IPayments>().PayAsync(Request())).TransactionId);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_request_or_reply_that_is_too_long_fails_only_its_call(bool isRequest)
    {
        await using var pair = await RpcxPair.StartAsync();
        var text = new string('a', 5 << 20);
        pair.Pay = request =>
            Task.FromResult(new MakePaymentResponse { Message = request.AccountId == "long" ? text : "" });
        var payments = pair.Client().Proxy<IPayments>();
        Assert.Equal(
            StatusCode.ResourceExhausted,
            (await FailureAsync(payments.PayAsync(Request(account: isRequest ? text : "long")))).StatusCode);
        await payments.PayAsync(Request());
    }

    [Fact]
    public async Task All_calls_on_a_lost_connection_fail_at_once_and_later_calls_reconnect()
    {
        await using var pair = await RpcxPair.StartAsync();
        var begun = new SemaphoreSlim(0);
        var never = new TaskCompletionSource<MakePaymentResponse>();
        pair.Pay = _ =>
        {
            begun.Release();
            return never.Task;
        };
        var payments = pair.Client().Proxy<IPayments>();
        var calls = Enumerable.Range(0, 20).Select(i => payments.PayAsync(Request(i))).ToList();
        foreach (var _ in calls)
        {
            await begun.WaitAsync();
        }
        await pair.Server.DisposeAsync();
        foreach (var call in calls)
        {
            Assert.Equal(StatusCode.Unavailable, (await FailureAsync(call)).StatusCode);
        }
        Assert.StartsWith(
            "Cannot connect to 127.0.0.1:",
            (await FailureAsync(payments.PayAsync(Request()))).Message, StringComparison.Ordinal);
        never.SetResult(Answer(Request()));
        pair.Pay = request => Task.FromResult(Answer(request));
        await pair.ListenAsync();
        Assert.Equal(3, (await Poll.UntilAsync(
            () => AnsweredAsync(payments.PayAsync(Request(3))), answer => answer is not null))!.Version);
    }

    [Fact]
    public async Task After_a_failed_attempt_calls_fail_without_a_new_attempt_until_the_backoff_ends()
    {
        using var closed = new Socket(SocketType.Stream, ProtocolType.Tcp);
        closed.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        using var log = new FakeLoggerProvider();
        await using var client = new RpcxClient(
            new RpcxClientOptions(closed.LocalEndPoint!.ToString()!) { Backoff = TimeSpan.FromHours(1) },
            TimeProvider.System, new Logger<RpcxClient>(new LoggerFactory([log])));
        var payments = client.Proxy<IPayments>();
        for (var i = 0; i < 10; i++)
        {
            await FailureAsync(payments.PayAsync(Request()));
        }
        Assert.Equal(1, log.Collector.Count);
    }

    [Fact]
    public async Task A_disposed_client_fails_its_calls_and_rejects_new_ones()
    {
        await using var pair = await RpcxPair.StartAsync();
        var begun = new TaskCompletionSource();
        var never = new TaskCompletionSource<MakePaymentResponse>();
        pair.Pay = _ =>
        {
            begun.SetResult();
            return never.Task;
        };
        var client = pair.Client();
        var payments = client.Proxy<IPayments>();
        var call = payments.PayAsync(Request());
        await begun.Task;
        await client.DisposeAsync();
        Assert.Equal(StatusCode.Unavailable, (await FailureAsync(call)).StatusCode);
        Assert.Equal(StatusCode.Unavailable, (await FailureAsync(payments.PayAsync(Request()))).StatusCode);
        never.SetResult(Answer(Request()));
    }

    [Fact]
    public async Task A_stopping_server_finishes_the_calls_in_flight_and_accepts_no_new_ones()
    {
        await using var pair = await RpcxPair.StartAsync();
        var begun = new TaskCompletionSource();
        var answer = new TaskCompletionSource<MakePaymentResponse>();
        pair.Pay = _ =>
        {
            begun.SetResult();
            return answer.Task;
        };
        var payments = pair.Client().Proxy<IPayments>();
        var call = payments.PayAsync(Request());
        await begun.Task;
        var stopping = pair.Server.StopAsync(CancellationToken.None);
        var e = await FailureAsync(payments.PayAsync(Request()));
        Assert.Equal((StatusCode.Unavailable, "The server is shutting down."), (e.StatusCode, e.Message));
        Assert.False(call.IsCompleted);
        Assert.False(stopping.IsCompleted);
        answer.SetResult(Answer(Request(5)));
        Assert.Equal(5, (await call).Version);
        await stopping;
    }

    [Fact]
    public async Task A_stopping_server_waits_no_longer_than_it_is_told()
    {
        await using var pair = await RpcxPair.StartAsync();
        var begun = new TaskCompletionSource();
        var never = new TaskCompletionSource<MakePaymentResponse>();
        pair.Pay = _ =>
        {
            begun.SetResult();
            return never.Task;
        };
        var call = pair.Client().Proxy<IPayments>().PayAsync(Request());
        await begun.Task;
        await pair.Server.StopAsync(new CancellationToken(canceled: true));
        Assert.Equal(StatusCode.Unavailable, (await FailureAsync(call)).StatusCode);
        never.SetResult(Answer(Request()));
    }

    [Fact]
    public async Task An_address_in_use_prevents_the_start_with_an_error_that_names_the_setting()
    {
        await using var pair = await RpcxPair.StartAsync();
        var first = pair.Server;
        var e = await Assert.ThrowsAsync<StartupException>(() => pair.ListenAsync());
        Assert.StartsWith("Billing:Direct:Listen: cannot listen on 127.0.0.1:", e.Message, StringComparison.Ordinal);
        await first.DisposeAsync();
    }

    private static Task<RpcxException> FailureAsync(Task call) => Assert.ThrowsAsync<RpcxException>(() => call);

    private static async Task<T?> AnsweredAsync<T>(Task<T> call)
        where T : class
    {
        try
        {
            return await call;
        }
        catch (RpcxException)
        {
            return null;
        }
    }
}
