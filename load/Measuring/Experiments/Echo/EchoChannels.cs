using Billing.Driver.Channels;
using Billing.Rpc.Rpcx;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.Measuring.Experiments.Echo;

/// <summary>Calls an echo server over one protocol, and checks that the answer belongs to the request.</summary>
internal abstract class EchoChannel : IRequestChannel
{
    /// <summary>The timeout of a call over every protocol.</summary>
    protected static readonly TimeSpan CallTimeout = TimeSpan.FromSeconds(30);

    /// <summary>Creates a channel of one connection, that is not connected yet.</summary>
    /// <param name="port">The port that its server listens on.</param>
    public static IRequestChannel Create(string protocol, int port) => protocol switch
    {
        Protocols.Rpcx => new RpcxEcho(port),
        Protocols.Grpc => new GrpcEcho(port),
        _ => new RestEcho(port),
    };

    public async Task<Answer<MakePaymentResponse>> PayAsync(MakePaymentRequest request)
    {
        try
        {
            var answer = await CallAsync(request);
            return EchoMessages.IsAnswer(request, answer)
                ? new Answer<MakePaymentResponse>(answer)
                : new Answer<MakePaymentResponse>(null, "wrong answer");
        }
        catch (Exception e) when (e is RpcxException or RpcException or HttpRequestException
            or OperationCanceledException or TimeoutException or System.Text.Json.JsonException)
        {
            return new Answer<MakePaymentResponse>(null, e.GetType().Name);
        }
    }

    public Task<Answer<CheckBalanceResponse>> CheckAsync(CheckBalanceRequest request) =>
        throw new NotSupportedException("An echo server answers payments only.");

    public abstract ValueTask DisposeAsync();

    protected abstract Task<MakePaymentResponse> CallAsync(MakePaymentRequest request);

    private sealed class RpcxEcho : EchoChannel
    {
        private readonly RpcxClient _client;
        private readonly IEchoService _echo;

        public RpcxEcho(int port)
        {
            _client = new RpcxClient(
                new RpcxClientOptions($"127.0.0.1:{port}"), TimeProvider.System, NullLogger<RpcxClient>.Instance);
            _echo = _client.Proxy<IEchoService>();
        }

        public override ValueTask DisposeAsync() => _client.DisposeAsync();

        protected override Task<MakePaymentResponse> CallAsync(MakePaymentRequest request) =>
            _echo.PayAsync(request).WaitAsync(CallTimeout, TimeProvider.System);
    }

    private sealed class GrpcEcho : EchoChannel
    {
        private readonly GrpcChannel _channel;
        private readonly BillingService.BillingServiceClient _client;

        public GrpcEcho(int port)
        {
            _channel = GrpcChannel.ForAddress(
                $"http://127.0.0.1:{port}", new GrpcChannelOptions
                {
                    HttpHandler = new SocketsHttpHandler { EnableMultipleHttp2Connections = true },
                    DisposeHttpClient = true,
                });
            _client = new BillingService.BillingServiceClient(_channel);
        }

        public override ValueTask DisposeAsync()
        {
            _channel.Dispose();
            return ValueTask.CompletedTask;
        }

        protected override async Task<MakePaymentResponse> CallAsync(MakePaymentRequest request)
        {
            using var call = _client.MakePaymentAsync(
                request, deadline: TimeProvider.System.GetUtcNow().UtcDateTime + CallTimeout);
            return await call.ResponseAsync;
        }
    }

    private sealed class RestEcho(int port) : EchoChannel
    {
        // HTTP/1.1 carries one call at a time on a connection, so that the client opens one for each caller.
        private readonly HttpClient _client = new(new SocketsHttpHandler { UseCookies = false, UseProxy = false })
        {
            BaseAddress = new Uri($"http://127.0.0.1:{port}"),
            Timeout = CallTimeout,
        };

        public override ValueTask DisposeAsync()
        {
            _client.Dispose();
            return ValueTask.CompletedTask;
        }

        protected override async Task<MakePaymentResponse> CallAsync(MakePaymentRequest request)
        {
            var amount = new EchoJsonMoney(request.Amount.CurrencyCode, request.Amount.Units, request.Amount.Nanos);
            using var content = JsonContent.Create(
                new EchoJsonRequest(request.TransactionId, request.AccountId, "VISA", amount),
                EchoJson.Default.EchoJsonRequest);
            using var response = await _client.PostAsync(new Uri("/payments", UriKind.Relative), content);
            response.EnsureSuccessStatusCode();
            var reply = (await response.Content.ReadFromJsonAsync(EchoJson.Default.EchoJsonReply))!;
            return new MakePaymentResponse
            {
                TransactionId = reply.TransactionId,
                Outcome = PaymentOutcome.Accepted,
                Version = reply.Version,
            };
        }
    }
}
