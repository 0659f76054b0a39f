using System.Globalization;
using Billing.Rpc.Rpcx;
using Billing.Rpc.Rpcx.Calling;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.Measuring.Comparing.Rpc;

/// <summary>Calls an echo server over one protocol.</summary>
internal abstract class EchoClient : IAsyncDisposable
{
    /// <summary>Makes a call.</summary>
    /// <param name="caller">Number of the caller.</param>
    /// <param name="request">The request to send.</param>
    /// <returns>Whether the answer is correct.</returns>
    public abstract Task<bool> CallAsync(int caller, MakePaymentRequest request);

    /// <inheritdoc/>
    public abstract ValueTask DisposeAsync();

    /// <summary>Creates a client that is not connected yet.</summary>
    /// <param name="protocol">One of <see cref="Protocols"/>.</param>
    /// <param name="port">The port that its server listens on.</param>
    /// <param name="connections">Number of connections, for the protocols that multiplex calls.</param>
    public static EchoClient Create(string protocol, int port, int connections) => protocol switch
    {
        Protocols.Rpcx => new RpcxEchoClient(port, connections),
        Protocols.Grpc => new GrpcEchoClient(port, connections),
        _ => new RestEchoClient(port),
    };

    /// <summary>Whether an exception means that the call failed.</summary>
    public static bool IsFailure(Exception e) =>
        e is RpcxException or RpcException or HttpRequestException or OperationCanceledException or System.Text.Json.JsonException;

    private static string Address(int port) => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{port}");

    private sealed class RpcxEchoClient : EchoClient
    {
        private readonly RpcxClient _client;
        private readonly IEchoService _echo;

        public RpcxEchoClient(int port, int connections)
        {
            _client = new RpcxClient(
                new RpcxClientOptions { Address = Address(port), Connections = connections },
                TimeProvider.System, NullLogger<RpcxClient>.Instance);
            _echo = _client.Proxy<IEchoService>();
        }

        public override async Task<bool> CallAsync(int caller, MakePaymentRequest request) =>
            EchoMessages.IsAnswer(request, await _echo.PayAsync(request, default));

        public override ValueTask DisposeAsync() => _client.DisposeAsync();
    }

    private sealed class GrpcEchoClient : EchoClient
    {
        // The timeout of the other two protocols, where it is the default.
        private static readonly TimeSpan CallTimeout = TimeSpan.FromSeconds(30);

        private readonly GrpcChannel[] _channels;
        private readonly V1.Billing.BillingClient[] _clients;

        public GrpcEchoClient(int port, int connections)
        {
            _channels = [.. Enumerable.Range(0, connections).Select(_ => GrpcChannel.ForAddress(
                "http://" + Address(port),
                new GrpcChannelOptions { HttpHandler = new SocketsHttpHandler { EnableMultipleHttp2Connections = true } }))];
            _clients = [.. _channels.Select(channel => new V1.Billing.BillingClient(channel))];
        }

        public override async Task<bool> CallAsync(int caller, MakePaymentRequest request)
        {
            var deadline = TimeProvider.System.GetUtcNow().UtcDateTime + CallTimeout;
            using var call = _clients[caller % _clients.Length].MakePaymentAsync(request, deadline: deadline);
            return EchoMessages.IsAnswer(request, await call.ResponseAsync);
        }

        public override ValueTask DisposeAsync()
        {
            Array.ForEach(_channels, channel => channel.Dispose());
            return ValueTask.CompletedTask;
        }
    }

    private sealed class RestEchoClient : EchoClient
    {
        private readonly HttpClient _client;

        public RestEchoClient(int port) => _client = new HttpClient(new SocketsHttpHandler { UseCookies = false, UseProxy = false })
        {
            // HTTP/1.1 carries one call at a time on a connection, so each caller gets its own connection.
            BaseAddress = new Uri("http://" + Address(port)),
            Timeout = TimeSpan.FromSeconds(30),
        };

        public override async Task<bool> CallAsync(int caller, MakePaymentRequest request)
        {
            var amount = new EchoJsonMoney(request.Amount.CurrencyCode, request.Amount.Units, request.Amount.Nanos);
            var json = new EchoJsonRequest(request.TransactionId, request.AccountId, "VISA", amount);
            using var content = JsonContent.Create(json, EchoJson.Default.EchoJsonRequest);
            using var response = await _client.PostAsync(new Uri("/payments", UriKind.Relative), content);
            if (!response.IsSuccessStatusCode)
            {
                return false;
            }
            var reply = await response.Content.ReadFromJsonAsync(EchoJson.Default.EchoJsonReply);
            return reply!.Version == request.Amount.Units && reply.TransactionId == request.TransactionId;
        }

        public override ValueTask DisposeAsync()
        {
            _client.Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
