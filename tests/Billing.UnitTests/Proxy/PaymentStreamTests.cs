using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Proxy.Failures;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using Grpc.Core.Interceptors;
using Grpc.Net.Client;

namespace Billing.UnitTests.Proxy;

public sealed class PaymentStreamTests
{
    private readonly FakeBackend _backend = new();

    [Fact]
    public async Task Each_payment_is_answered_once_and_the_stream_ends()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        var payments = Payments(3_000);
        var answers = await SendAllAsync(proxy, payments);
        Assert.Equal(payments.Select(p => p.TransactionId).Order(), answers.Select(a => a.TransactionId).Order());
        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Payment?.Outcome));
        Assert.Equal(payments.Select(p => p.TransactionId), _backend.Commands.Select(c => c.TransactionId));
    }

    [Fact]
    public async Task Answers_are_sent_in_the_order_in_which_they_are_ready()
    {
        var slow = new TaskCompletionSource<Reply>();
        var payments = Payments(2);
        _backend.Answer = command => command.TransactionId == payments[0].TransactionId
            ? slow.Task
            : Task.FromResult(FakeBackend.Accepted(command));
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var call = proxy.Client.MakePayments();
        await call.RequestStream.WriteAsync(payments[0]);
        await call.RequestStream.WriteAsync(payments[1]);
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        Assert.Equal(payments[1].TransactionId, call.ResponseStream.Current.TransactionId);
        slow.SetResult(FakeBackend.Accepted(_backend.Commands.First()));
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        Assert.Equal(payments[0].TransactionId, call.ResponseStream.Current.TransactionId);
    }

    [Fact]
    public async Task A_payment_that_cannot_be_processed_is_answered_as_failed_and_does_not_affect_the_others()
    {
        var payments = Payments(5);
        payments[1].AccountId = "a/b";
        payments[2].AccountId = new string('a', 1000);
        _backend.Answer = command => Task.FromResult(command.TransactionId == payments[3].TransactionId
            ? Replies.Error(0, StatusCode.DeadlineExceeded, ErrorReasons.NoAnswerInTime, "no answer")
            : FakeBackend.Accepted(command));
        await using var proxy = await ProxyHost.StartAsync(_backend, options => options.RequestBytesMax = 256);

        var answers = (await SendAllAsync(proxy, payments)).ToDictionary(a => a.TransactionId);

        Assert.Equal(PaymentOutcome.Accepted, answers[payments[0].TransactionId].Payment.Outcome);
        Assert.Equal(PaymentOutcome.Accepted, answers[payments[4].TransactionId].Payment.Outcome);
        var failed = payments[1..4].Select(p => answers[p.TransactionId]).ToList();
        Assert.Equal([3, 3, 4], failed.Select(answer => answer.Error.StatusCode));
        Assert.Equal(
            [ErrorReasons.InvalidField, ErrorReasons.RequestTooLarge, ErrorReasons.NoAnswerInTime],
            failed.Select(answer => answer.Error.Reason));
        Assert.Equal("account_id", failed[0].Error.Field);
    }

    [Fact]
    public async Task No_more_payments_are_in_flight_than_the_window_allows()
    {
        var waiting = Channel.CreateUnbounded<TaskCompletionSource>();
        _backend.Answer = async command =>
        {
            var answered = new TaskCompletionSource();
            waiting.Writer.TryWrite(answered);
            await answered.Task;
            return FakeBackend.Accepted(command);
        };
        await using var proxy = await ProxyHost.StartAsync(_backend, options => options.StreamWindow = 8);
        var sending = SendAllAsync(proxy, Payments(500));
        for (var i = 0; i < 500; i++)
        {
            (await waiting.Reader.ReadAsync()).SetResult();
        }
        Assert.Equal(500, (await sending).Count);
        Assert.InRange(_backend.InFlightMax, 1, 8);
    }

    [Theory]
    [InlineData("127.0.0.1", "127.0.0.2")]
    [InlineData("127.0.0.2", "127.0.0.1")]
    public async Task However_many_streams_one_caller_has_a_payment_on_a_stream_of_another_caller_is_answered(
        string greedy, string modest)
    {
        _backend.Answer = command => command.Payment.AccountId == "modest"
            ? Task.FromResult(FakeBackend.Accepted(command))
            : new TaskCompletionSource<Reply>().Task;
        await using var proxy = await ProxyHost.StartAsync(
            _backend, options => (options.InFlightMax, options.StreamWindow) = (40, 1));
        using var many = ChannelFrom(IPAddress.Parse(greedy), proxy);
        using var one = ChannelFrom(IPAddress.Parse(modest), proxy);
        var taken = 0;
        for (var refused = false; !refused;)
        {
            var stream = new BillingService.BillingServiceClient(many).MakePayments();
            // The write to a stream that is refused may fail.
            _ = stream.RequestStream.WriteAsync(Samples.Payment("greedy"))
                .ContinueWith(_ => { }, TaskScheduler.Default);
            var answer = stream.ResponseStream.MoveNext(CancellationToken.None);
            await Poll.UntilAsync(() => answer.IsCompleted || _backend.Commands.Count > taken);
            refused = answer.IsFaulted;
            taken = _backend.Commands.Count;
        }

        using var call = new BillingService.BillingServiceClient(one).MakePayments();
        await call.RequestStream.WriteAsync(Samples.Payment("modest"));

        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        Assert.Equal(PaymentOutcome.Accepted, call.ResponseStream.Current.Payment.Outcome);
        Assert.Equal(10, taken);
    }

    [Fact]
    public async Task Without_answers_no_more_payments_are_read_than_the_window_allows()
    {
        var never = new TaskCompletionSource<Reply>();
        var full = new TaskCompletionSource();
        _backend.Answer = _ =>
        {
            if (_backend.InFlight == 8)
            {
                full.TrySetResult();
            }
            return never.Task;
        };
        await using var proxy = await ProxyHost.StartAsync(_backend, options => options.StreamWindow = 8);
        using var call = proxy.Client.MakePayments();
        foreach (var payment in Payments(100))
        {
            await call.RequestStream.WriteAsync(payment);
        }
        await full.Task;
        Assert.Equal(8, _backend.Commands.Count);
        Assert.Equal(8, proxy.Admission.InFlight);
    }

    [Fact]
    public async Task No_further_requests_are_read_from_a_caller_that_does_not_read_its_answers()
    {
        const int Total = 60_000;
        var payments = Payments(Total);
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var call = proxy.Client.MakePayments();
        var written = 0;
        var writing = Task.Run(async () =>
        {
            foreach (var payment in payments)
            {
                await call.RequestStream.WriteAsync(payment);
                Interlocked.Increment(ref written);
            }
            await call.RequestStream.CompleteAsync();
        });
        // If the machine pauses for this long, the wait ends too early; that makes no assertion fail.
        for (var before = -1; before != Volatile.Read(ref written);)
        {
            before = Volatile.Read(ref written);
            await Task.Delay(TimeSpan.FromSeconds(1));
        }

        Assert.InRange(_backend.Commands.Count, 1, Total / 4);
        Assert.InRange(Volatile.Read(ref written), 1, Total / 2);

        var answers = await ReadAllAsync(call);
        await writing;
        Assert.Equal(Total, answers.DistinctBy(answer => answer.TransactionId).Count());
        Assert.Equal(Total, answers.Count);
    }

    [Theory]
    [InlineData(null, 30)]
    [InlineData(20, 20)]
    [InlineData(3600, 60)]
    public async Task A_payment_carries_the_rest_of_the_streams_deadline_within_the_proxys_limits(
        int? requestedS, int maxS)
    {
        await using var proxy = await ProxyHost.StartAsync(
            _backend, options => options.DeadlineMax = TimeSpan.FromMinutes(1));
        using var call = proxy.Client.MakePayments(
            deadline: requestedS is { } seconds
                ? TimeProvider.System.GetUtcNow().UtcDateTime.AddSeconds(seconds)
                : null);
        await call.RequestStream.WriteAsync(Payments(1)[0]);
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        var command = _backend.Commands.Single();
        Assert.InRange(command.DeadlineUnixUs - command.ReceivedUnixUs, 1, maxS * 1_000_000L);
    }

    [Fact]
    public async Task A_stopping_proxy_answers_the_payments_in_flight_and_then_ends_the_stream_with_the_reason()
    {
        var taken = new TaskCompletionSource();
        var answer = new TaskCompletionSource<Reply>();
        _backend.Answer = _ =>
        {
            taken.TrySetResult();
            return answer.Task;
        };
        var end = new StreamEnd();
        await using var proxy = await ProxyHost.StartAsync(_backend, interceptor: end);
        using var call = proxy.Client.MakePayments();
        await call.RequestStream.WriteAsync(Payments(1)[0]);
        await taken.Task;
        var stopping = proxy.StopAsync();
        await proxy.WaitForClosingAsync();
        answer.SetResult(FakeBackend.Accepted(_backend.Commands.Single()));

        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        Assert.Equal(PaymentOutcome.Accepted, call.ResponseStream.Current.Payment.Outcome);
        end.AnswersRead.SetResult();
        var ended = await Assert.ThrowsAsync<RpcException>(() => call.ResponseStream.MoveNext(CancellationToken.None));
        await stopping;

        var sent = end.Failure!;
        Assert.Equal(StatusCode.Unavailable, sent.Status);
        Assert.Equal(ErrorReasons.ShuttingDown, sent.Reason);
        // The server closes the connection after the stream's status; a client that reads slowly may see the closed
        // connection first. In both cases it knows that the stream has ended and which of its payments have no answer.
        if (ended.StatusCode == StatusCode.Internal)
        {
            Assert.Contains("NO_ERROR", ended.Status.Detail, StringComparison.Ordinal);
            return;
        }
        Assert.Equal(sent.Status, ended.StatusCode);
        Assert.Equal(ErrorReasons.ShuttingDown, ended.Reason());
    }

    [Fact]
    public async Task A_caller_that_does_not_read_does_not_delay_the_stop_of_the_proxy()
    {
        var full = new TaskCompletionSource();
        _backend.Answer = command =>
        {
            if (_backend.Commands.Count == 256)
            {
                full.TrySetResult();
            }
            // 256 answers of this size exceed the HTTP/2 flow-control window of a caller that does not read.
            var reply = FakeBackend.Accepted(command);
            reply.Payment.Message = new string('x', 8_000);
            return Task.FromResult(reply);
        };
        await using var proxy = await ProxyHost.StartAsync(
            _backend, options => options.DrainTimeout = TimeSpan.FromMinutes(10));
        using var call = proxy.Client.MakePayments();
        foreach (var payment in Payments(1_000))
        {
            await call.RequestStream.WriteAsync(payment);
        }
        await full.Task;

        await proxy.StopAsync().WaitAsync(TimeSpan.FromMinutes(2));

        Assert.Equal(0, proxy.Admission.InFlight);
        Assert.InRange(_backend.Commands.Count, 256, 999);
    }

    /// <summary>Records the error with which the proxy ended a stream, and sends it when its caller has read the
    /// answers: a client drops answers that it has not read when the connection is closed.</summary>
    private sealed class StreamEnd : Interceptor
    {
        public Failure? Failure { get; private set; }

        public TaskCompletionSource AnswersRead { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public override async Task DuplexStreamingServerHandler<TRequest, TResponse>(
            IAsyncStreamReader<TRequest> requestStream, IServerStreamWriter<TResponse> responseStream,
            ServerCallContext context, DuplexStreamingServerMethod<TRequest, TResponse> continuation)
        {
            try
            {
                await continuation(requestStream, responseStream, context);
            }
            catch (FailureException e)
            {
                Failure = e.Failure;
                await AnswersRead.Task;
                throw;
            }
        }
    }

    /// <summary>A channel whose connections come from an address: without authentication,
    /// an address is a caller.</summary>
    private static GrpcChannel ChannelFrom(IPAddress address, ProxyHost proxy) =>
        GrpcChannel.ForAddress(proxy.Address, new GrpcChannelOptions
        {
            DisposeHttpClient = true,
            HttpHandler = new SocketsHttpHandler
            {
                ConnectCallback = async (context, cancellationToken) =>
                {
                    var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                    socket.Bind(new IPEndPoint(address, 0));
                    await socket.ConnectAsync(context.DnsEndPoint, cancellationToken);
                    return new NetworkStream(socket, ownsSocket: true);
                },
            },
        });

    private static MakePaymentRequest[] Payments(int count) => [.. Enumerable.Range(0, count).Select(n =>
    {
        var payment = Samples.Payment("acct-" + (n % 50));
        payment.TransactionId = Guid.NewGuid().ToString();
        return payment;
    })];

    private static async Task<List<MakePaymentsResponse>> SendAllAsync(ProxyHost proxy, MakePaymentRequest[] payments)
    {
        using var call = proxy.Client.MakePayments();
        var reading = ReadAllAsync(call);
        foreach (var payment in payments)
        {
            await call.RequestStream.WriteAsync(payment);
        }
        if (!reading.IsFaulted)
        {
            await call.RequestStream.CompleteAsync();
        }
        return await reading;
    }

    private static async Task<List<MakePaymentsResponse>> ReadAllAsync(
        AsyncDuplexStreamingCall<MakePaymentRequest, MakePaymentsResponse> call)
    {
        var answers = new List<MakePaymentsResponse>();
        while (await call.ResponseStream.MoveNext(CancellationToken.None))
        {
            answers.Add(call.ResponseStream.Current);
        }
        return answers;
    }
}
