using Billing.Rpc.Rpcx;
using Billing.V1;
using Grpc.Core;
using static Billing.IntegrationTests.Rpcx.RpcxPair;

namespace Billing.IntegrationTests.Rpcx;

public sealed class RpcxDeadlines
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(50);

    [Fact]
    public async Task A_call_ends_at_its_deadline_and_its_implementation_is_cancelled()
    {
        await using var pair = await RpcxPair.StartAsync();
        var time = new ManualTime();
        var begun = new TaskCompletionSource();
        var cancelled = new TaskCompletionSource();
        pair.Pay = async (request, options) =>
        {
            begun.SetResult();
            await Task.Delay(Timeout.InfiniteTimeSpan, options.CancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            cancelled.SetResult();
            return Answer(request);
        };
        var call = pair.Client(time: time).Proxy<IPayments>().PayAsync(Request(), new RpcxCallOptions(Patience));
        await begun.Task;
        time.Advance(Patience);
        var e = await Assert.ThrowsAsync<RpcxException>(() => call);
        Assert.Equal((StatusCode.DeadlineExceeded, RpcxReasons.NoAnswerInTime), (e.StatusCode, e.Reason));
        await cancelled.Task;
    }

    [Fact]
    public async Task The_remaining_time_is_sent_with_the_call()
    {
        await using var pair = await RpcxPair.StartAsync();
        var left = new List<TimeSpan?>();
        pair.Pay = (request, options) =>
        {
            left.Add(options.Timeout);
            return Task.FromResult(Answer(request));
        };
        var payments = pair.Client(options => options.TimeoutDefault = TimeSpan.FromMinutes(10)).Proxy<IPayments>();
        await payments.PayAsync(Request(), new RpcxCallOptions(TimeSpan.FromMinutes(5)));
        await payments.PayAsync(Request(), default);
        await payments.PayAsync(Request(), new RpcxCallOptions(Timeout.InfiniteTimeSpan));
        await payments.PayAsync(Request(), new RpcxCallOptions(TimeSpan.MaxValue));
        Assert.InRange(left[0]!.Value, TimeSpan.Zero, TimeSpan.FromMinutes(5));
        Assert.InRange(left[1]!.Value, TimeSpan.FromMinutes(5), TimeSpan.FromMinutes(10));
        Assert.Null(left[2]);
        Assert.Null(left[3]);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-5)]
    public async Task A_call_whose_deadline_has_passed_is_not_sent(int seconds)
    {
        await using var pair = await RpcxPair.StartAsync();
        var payments = pair.Client().Proxy<IPayments>();
        var e = await Assert.ThrowsAsync<RpcxException>(
            () => payments.PayAsync(Request(), new RpcxCallOptions(TimeSpan.FromSeconds(seconds))));
        Assert.Equal(StatusCode.DeadlineExceeded, e.StatusCode);
        Assert.DoesNotContain(pair.Log.Messages, m => m.Contains("Connected", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_call_that_expires_while_it_waits_for_the_window_never_starts()
    {
        await using var pair = await RpcxPair.StartAsync(options => options.InFlightMax = 1);
        var begun = 0;
        var first = new TaskCompletionSource<MakePaymentResponse>();
        pair.Pay = (_, _) =>
        {
            Interlocked.Increment(ref begun);
            return first.Task;
        };
        var payments = await ConnectedAsync(pair);
        var holding = payments.PayAsync(Request(), default);
        // This call waits in the client until the server's window of calls in flight has room.
        await Assert.ThrowsAsync<RpcxException>(() => payments.PayAsync(Request(), new RpcxCallOptions(Short)));
        first.SetResult(Answer(Request()));
        await holding;
        Assert.Equal(1, begun);
        await payments.PayAsync(Request(), default);
        Assert.Equal(2, begun);
    }

    [Fact]
    public async Task A_cancellation_by_the_caller_ends_the_call_and_cancels_the_implementation()
    {
        await using var pair = await RpcxPair.StartAsync();
        using var gone = new CancellationTokenSource();
        var begun = new TaskCompletionSource();
        var cancelled = new TaskCompletionSource();
        pair.Pay = async (request, options) =>
        {
            begun.SetResult();
            await Task.Delay(Timeout.InfiniteTimeSpan, options.CancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            cancelled.SetResult();
            return Answer(request);
        };
        var payments = pair.Client().Proxy<IPayments>();
        var call = payments.PayAsync(Request(), new RpcxCallOptions(CancellationToken: gone.Token));
        await begun.Task;
        await gone.CancelAsync();
        var e = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call);
        Assert.Equal(gone.Token, e.CancellationToken);
        await cancelled.Task;
        pair.Pay = (request, _) => Task.FromResult(Answer(request));
        await payments.PayAsync(Request(), default);
    }

    [Fact]
    public async Task A_call_that_is_already_cancelled_sends_nothing()
    {
        await using var pair = await RpcxPair.StartAsync();
        var payments = pair.Client().Proxy<IPayments>();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => payments.PayAsync(Request(), new RpcxCallOptions(CancellationToken: new CancellationToken(canceled: true))));
        Assert.DoesNotContain(pair.Log.Messages, m => m.Contains("Connected", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Calls_that_race_with_their_cancellation_end_once_each_and_leave_the_connection_usable()
    {
        await using var pair = await RpcxPair.StartAsync(options => options.InFlightMax = 50);
        pair.Pay = async (request, options) =>
        {
            await Task.Yield();
            options.CancellationToken.ThrowIfCancellationRequested();
            return Answer(request);
        };
        var payments = pair.Client().Proxy<IPayments>();
        for (var round = 0; round < 100; round++)
        {
            using var gone = new CancellationTokenSource();
            var options = new RpcxCallOptions(CancellationToken: gone.Token);
            var calls = Enumerable.Range(0, 100).Select(i => Task.Run(() => payments.PayAsync(Request(i), options))).ToList();
            await gone.CancelAsync();
            await Task.WhenAny(Task.WhenAll(calls));
            Assert.All(calls, call => Assert.True(call.IsCompletedSuccessfully || call.IsCanceled));
        }
        Assert.Equal(3, (await payments.PayAsync(Request(3), default)).Version);
    }

    [Fact]
    public async Task A_cancellation_by_the_implementation_cancels_the_call()
    {
        await using var pair = await RpcxPair.StartAsync();
        pair.Pay = (_, _) => throw new OperationCanceledException();
        var e = await Assert.ThrowsAsync<RpcxException>(
            () => pair.Client().Proxy<IPayments>().PayAsync(Request(), default));
        Assert.Equal((StatusCode.Cancelled, RpcxReasons.HandlerCancelled), (e.StatusCode, e.Reason));
    }

    /// <summary>Returns a proxy that is already connected, so that a call is certain to be sent at once.</summary>
    private static async Task<IPayments> ConnectedAsync(RpcxPair pair)
    {
        var payments = pair.Client().Proxy<IPayments>();
        await payments.CheckAsync(new CheckBalanceRequest(), default);
        return payments;
    }
}
