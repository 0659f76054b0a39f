using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy;

/// <summary>Open streams without payments, or with few.</summary>
public sealed class IdleStreamTests
{
    private static readonly TimeSpan IdleMax = TimeSpan.FromMinutes(10);

    private readonly FakeBackend _backend = new();
    private readonly ManualTime _time = new();

    [Fact]
    public async Task Calls_are_admitted_beside_hundreds_of_idle_streams()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        var streams = new List<AsyncDuplexStreamingCall<MakePaymentRequest, MakePaymentsResponse>>();
        for (var i = 0; i < 300; i++)
        {
            streams.Add(await OpenAsync(proxy));
        }

        Assert.Equal(300, proxy.Admission.InFlight);
        Assert.Equal(PaymentOutcome.Accepted, (await proxy.Client.MakePaymentAsync(Payment())).Outcome);
        streams.ForEach(stream => stream.Dispose());
        await proxy.WaitUntilIdleAsync();
    }

    [Fact]
    public async Task However_many_streams_are_opened_calls_are_admitted_and_a_stream_that_ends_frees_a_place()
    {
        await using var proxy = await ProxyHost.StartAsync(
            _backend, options => (options.InFlightMax, options.StreamWindow) = (16, 4));
        var streams = new List<AsyncDuplexStreamingCall<MakePaymentRequest, MakePaymentsResponse>>();
        for (var i = 0; i < 4; i++)
        {
            streams.Add(await OpenAsync(proxy));
            await proxy.WaitUntilTakenAsync(streams.Count);
        }

        // Nothing is written to it: a write to a refused call may fail without the status of the refusal.
        using var late = proxy.Client.MakePayments();
        var refused = await Assert.ThrowsAsync<RpcException>(
            () => late.ResponseStream.MoveNext(CancellationToken.None));
        var paid = await proxy.Client.MakePaymentAsync(Payment());
        await streams[0].RequestStream.CompleteAsync();
        Assert.False(await streams[0].ResponseStream.MoveNext(CancellationToken.None));
        await proxy.WaitUntilTakenAsync(3);
        streams.Add(await OpenAsync(proxy));

        Assert.Equal(StatusCode.ResourceExhausted, refused.StatusCode);
        Assert.Equal(ErrorReasons.CallerLimitReached, refused.Reason());
        Assert.NotNull(refused.Trailers.GetValue(Trailers.RetryPushback));
        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        streams.ForEach(stream => stream.Dispose());
    }

    [Fact]
    public async Task A_stream_that_is_idle_for_too_long_is_ended_with_the_reason_and_frees_its_place()
    {
        await using var proxy = await ProxyHost.StartAsync(
            _backend, options => options.StreamIdleMax = IdleMax, time: _time);
        using var call = await OpenAsync(proxy);

        var ended = await Assert.ThrowsAsync<RpcException>(
            () => _time.RunToEndAsync(call.ResponseStream.MoveNext(CancellationToken.None)));
        await proxy.WaitUntilIdleAsync();

        Assert.Equal(StatusCode.Unavailable, ended.StatusCode);
        Assert.Equal(ErrorReasons.StreamIdle, ended.Reason());
        Assert.Contains("Billing:Proxy:StreamIdleMax", ended.Status.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(256)]
    public async Task A_stream_with_a_payment_in_flight_is_never_idle(int window)
    {
        await using var proxy = await ProxyHost.StartAsync(
            _backend, options => (options.StreamIdleMax, options.StreamWindow) = (IdleMax, window), time: _time);
        using var call = await OpenAsync(proxy);
        var taken = new TaskCompletionSource();
        var answer = new TaskCompletionSource<Reply>();
        _backend.Answer = command =>
        {
            taken.TrySetResult();
            return answer.Task;
        };
        await call.RequestStream.WriteAsync(Payment());
        await taken.Task;

        _time.Advance(IdleMax * 5);
        answer.SetResult(FakeBackend.Accepted(_backend.Commands.Last()));

        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        await PayAsync(call);
    }

    [Fact]
    public async Task Each_answer_restarts_the_idle_time()
    {
        await using var proxy = await ProxyHost.StartAsync(
            _backend, options => options.StreamIdleMax = IdleMax, time: _time);
        using var call = await OpenAsync(proxy);

        for (var i = 0; i < 5; i++)
        {
            await PayAsync(call);
            _time.Advance(IdleMax * 0.9);
        }

        await PayAsync(call);
    }

    [Fact]
    public async Task If_the_share_of_streams_is_used_up_a_stream_reads_on_as_its_own_payments_are_answered()
    {
        var waiting = System.Threading.Channels.Channel.CreateUnbounded<TaskCompletionSource>();
        _backend.Answer = async command =>
        {
            var answered = new TaskCompletionSource();
            waiting.Writer.TryWrite(answered);
            await answered.Task;
            return FakeBackend.Accepted(command);
        };
        await using var proxy = await ProxyHost.StartAsync(
            _backend, options => (options.InFlightMax, options.StreamWindow) = (8, 8));
        using var call = proxy.Client.MakePayments();
        for (var i = 0; i < 100; i++)
        {
            await call.RequestStream.WriteAsync(Payment());
        }
        await call.RequestStream.CompleteAsync();
        for (var i = 0; i < 100; i++)
        {
            (await waiting.Reader.ReadAsync()).SetResult();
        }
        var answers = 0;
        while (await call.ResponseStream.MoveNext(CancellationToken.None))
        {
            answers++;
        }

        Assert.Equal(100, answers);
        Assert.InRange(_backend.InFlightMax, 1, 4);
    }

    /// <summary>Opens a stream and makes one payment, so that the proxy has certainly admitted the stream.</summary>
    private static async Task<AsyncDuplexStreamingCall<MakePaymentRequest, MakePaymentsResponse>> OpenAsync(
        ProxyHost proxy)
    {
        var call = proxy.Client.MakePayments();
        await PayAsync(call);
        return call;
    }

    private static async Task PayAsync(AsyncDuplexStreamingCall<MakePaymentRequest, MakePaymentsResponse> call)
    {
        await call.RequestStream.WriteAsync(Payment());
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
    }

    private static MakePaymentRequest Payment()
    {
        var payment = Samples.Payment();
        payment.TransactionId = Guid.NewGuid().ToString();
        return payment;
    }
}
