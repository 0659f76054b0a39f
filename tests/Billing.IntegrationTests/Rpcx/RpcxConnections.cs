using System.Net;
using System.Net.Sockets;
using Billing.Hosting;
using Billing.Rpc.Rpcx;
using Billing.Rpc.Rpcx.Calling;
using Billing.V1;
using Grpc.Core;
using Microsoft.Extensions.Logging;
using static Billing.IntegrationTests.Rpcx.RpcxPair;

namespace Billing.IntegrationTests.Rpcx;

public sealed class RpcxConnections
{
    [Fact]
    public async Task All_calls_on_a_lost_connection_fail_at_once_and_the_next_call_reconnects()
    {
        await using var pair = await RpcxPair.StartAsync();
        using var begun = new CountdownEvent(20);
        var cancelled = new TaskCompletionSource();
        pair.Pay = async (request, options) =>
        {
            begun.Signal();
            await Task.Delay(Timeout.InfiniteTimeSpan, options.CancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            cancelled.TrySetResult();
            return Answer(request);
        };
        var payments = pair.Client().Proxy<IPayments>();
        var calls = Enumerable.Range(0, 20).Select(i => payments.PayAsync(Request(i), default)).ToList();
        await Task.Run(() => begun.Wait(TestContext.Current.CancellationToken), TestContext.Current.CancellationToken);
        await pair.Server.DisposeAsync();
        foreach (var call in calls)
        {
            var e = await Assert.ThrowsAsync<RpcxException>(() => call);
            Assert.Equal((StatusCode.Unavailable, RpcxReasons.ConnectionLost), (e.StatusCode, e.Reason));
        }
        await cancelled.Task;
        pair.Pay = (request, _) => Task.FromResult(Answer(request));
        await pair.ListenAsync();
        Assert.Equal(3, (await payments.PayAsync(Request(3), default)).Version);
    }

    [Fact]
    public async Task Calls_fail_with_the_cause_while_no_server_listens_and_succeed_afterwards()
    {
        await using var pair = await RpcxPair.StartAsync();
        var payments = pair.Client(options => options.BackoffFirst = options.BackoffMax = TimeSpan.FromMilliseconds(1)).Proxy<IPayments>();
        await pair.Server.DisposeAsync();
        for (var i = 0; i < 3; i++)
        {
            var e = await Assert.ThrowsAsync<RpcxException>(() => payments.PayAsync(Request(), default));
            Assert.Equal((StatusCode.Unavailable, RpcxReasons.NotConnected), (e.StatusCode, e.Reason));
            Assert.StartsWith($"Cannot connect to {pair.Address}: ", e.Message, StringComparison.Ordinal);
        }
        await pair.ListenAsync();
        while (true)
        {
            try
            {
                Assert.Equal(3, (await payments.PayAsync(Request(3), default)).Version);
                return;
            }
            catch (RpcxException e) when (e.Reason == RpcxReasons.NotConnected)
            {
                await Task.Yield();
            }
        }
    }

    [Fact]
    public async Task After_a_failed_attempt_calls_fail_without_a_new_attempt_until_the_backoff_ends()
    {
        using var listener = new Socket(SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        var log = new RecordingLog();
        await using var client = new RpcxClient(
            new RpcxClientOptions
            {
                Address = listener.LocalEndPoint!.ToString()!,
                BackoffFirst = TimeSpan.FromHours(1),
                BackoffMax = TimeSpan.FromHours(1),
            },
            TimeProvider.System, new Logger<RpcxClient>(log));
        var payments = client.Proxy<IPayments>();
        for (var i = 0; i < 10; i++)
        {
            await Assert.ThrowsAsync<RpcxException>(() => payments.PayAsync(Request(), default));
        }
        Assert.Single(log.Messages);
    }

    [Fact]
    public async Task A_connection_to_a_silent_server_times_out()
    {
        using var listener = RawConnection.Listen();
        await using var client = new RpcxClient(
            new RpcxClientOptions { Address = listener.LocalEndPoint!.ToString()!, ConnectTimeout = TimeSpan.FromMilliseconds(50) },
            TimeProvider.System, new Logger<RpcxClient>(new RecordingLog()));
        var e = await Assert.ThrowsAsync<RpcxException>(() => client.Proxy<IPayments>().PayAsync(Request(), default));
        Assert.Equal((StatusCode.Unavailable, RpcxReasons.NotConnected), (e.StatusCode, e.Reason));
        Assert.Contains("(ConnectTimeout)", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_disposed_client_fails_its_calls_and_rejects_new_ones()
    {
        await using var pair = await RpcxPair.StartAsync();
        var begun = new TaskCompletionSource();
        var never = new TaskCompletionSource<MakePaymentResponse>();
        pair.Pay = (_, _) =>
        {
            begun.SetResult();
            return never.Task;
        };
        var client = pair.Client();
        var payments = client.Proxy<IPayments>();
        var call = payments.PayAsync(Request(), default);
        await begun.Task;
        await client.DisposeAsync();
        Assert.Equal(StatusCode.Unavailable, (await Assert.ThrowsAsync<RpcxException>(() => call)).StatusCode);
        var e = await Assert.ThrowsAsync<RpcxException>(() => payments.PayAsync(Request(), default));
        Assert.Equal((StatusCode.Unavailable, RpcxReasons.ClientClosed), (e.StatusCode, e.Reason));
        never.SetResult(Answer(Request()));
    }

    [Fact]
    public async Task A_stopping_server_finishes_the_calls_in_flight_and_accepts_no_new_ones()
    {
        await using var pair = await RpcxPair.StartAsync();
        var begun = new TaskCompletionSource();
        var answer = new TaskCompletionSource<MakePaymentResponse>();
        pair.Pay = (_, _) =>
        {
            begun.SetResult();
            return answer.Task;
        };
        var payments = pair.Client().Proxy<IPayments>();
        var call = payments.PayAsync(Request(), default);
        await begun.Task;
        var stopping = pair.Server.StopAsync(CancellationToken.None);
        await pair.Log.WaitForMessageAsync("is shutting down");
        var e = await Assert.ThrowsAsync<RpcxException>(() => payments.PayAsync(Request(), default));
        Assert.Equal((StatusCode.Unavailable, RpcxReasons.NotConnected), (e.StatusCode, e.Reason));
        Assert.False(call.IsCompleted);
        Assert.False(stopping.IsCompleted);
        answer.SetResult(Answer(Request(5)));
        Assert.Equal(5, (await call).Version);
        await stopping;
    }

    [Fact]
    public async Task A_stopping_server_waits_no_longer_than_its_stop_timeout()
    {
        await using var pair = await RpcxPair.StartAsync(options => options.StopTimeout = TimeSpan.FromMilliseconds(50));
        var begun = new TaskCompletionSource();
        var cancelled = new TaskCompletionSource();
        pair.Pay = async (request, options) =>
        {
            begun.SetResult();
            await Task.Delay(Timeout.InfiniteTimeSpan, options.CancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            cancelled.SetResult();
            return Answer(request);
        };
        var call = pair.Client().Proxy<IPayments>().PayAsync(Request(), default);
        await begun.Task;
        await pair.Server.StopAsync(CancellationToken.None);
        Assert.Equal(RpcxReasons.ConnectionLost, (await Assert.ThrowsAsync<RpcxException>(() => call)).Reason);
        await cancelled.Task;
    }

    [Fact]
    public async Task An_address_in_use_prevents_the_start_with_an_error_that_names_the_setting()
    {
        await using var pair = await RpcxPair.StartAsync();
        var e = await Assert.ThrowsAsync<StartupException>(() => pair.ListenAsync());
        Assert.StartsWith("Billing:Direct:Listen: cannot listen on 127.0.0.1:", e.Message, StringComparison.Ordinal);
    }
}
