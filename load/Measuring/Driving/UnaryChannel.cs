using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Billing.Contracts;
using Billing.LocalStack.Credentials;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.Measuring.Driving;

/// <summary>Sends each request as a gRPC call, all on one connection.</summary>
internal sealed class UnaryChannel : IRequestChannel
{
    private readonly GrpcChannel _channel;
    private readonly V1.Billing.BillingClient _billing;
    private readonly Metadata? _headers;
    private readonly TimeSpan _deadline;
    private readonly TimeProvider _time;
    private readonly int _timedEvery;
    private int _sent;

    public UnaryChannel(string address, DriveSpec spec, TimeProvider time)
    {
        _channel = GrpcConnection.Open(address, spec.From, spec.CaFile);
        _headers = spec.Token.Length > 0 ? new Metadata { { "authorization", "Bearer " + spec.Token } } : null;
        _billing = new V1.Billing.BillingClient(_channel);
        _deadline = TimeSpan.FromSeconds(spec.DeadlineS);
        _time = time;
        _timedEvery = spec.TimedEvery;
    }

    public async Task<RequestOutcome> PayAsync(MakePaymentRequest request)
    {
        try
        {
            if (_timedEvery > 0 && (uint)Interlocked.Increment(ref _sent) % _timedEvery == 0)
            {
                return await PayTimedAsync(request);
            }
            var answer = await _billing.MakePaymentAsync(request, _headers, Deadline());
            return RequestOutcome.Answered(answer.Outcome == PaymentOutcome.Declined);
        }
        catch (RpcException e)
        {
            return RequestOutcome.Failed(e.StatusCode.ToString());
        }
    }

    private async Task<RequestOutcome> PayTimedAsync(MakePaymentRequest request)
    {
        var headers = new Metadata();
        foreach (var entry in _headers ?? [])
        {
            headers.Add(entry);
        }
        headers.Add(RequestHeaders.SentAt, _time.Microseconds().ToString(CultureInfo.InvariantCulture));
        using var call = _billing.MakePaymentAsync(request, headers, Deadline());
        var answer = await call;
        var returned = _time.GetUtcNow();
        return RequestOutcome.Answered(answer.Outcome == PaymentOutcome.Declined) with
        {
            Times = StepTimes.TryParse(call.GetTrailers().GetValue(Trailers.Times), out var times) ? times with { Returned = returned } : null,
        };
    }

    public async Task<RequestOutcome> CheckAsync(CheckBalanceRequest request)
    {
        try
        {
            await _billing.CheckBalanceAsync(request, _headers, Deadline());
            return RequestOutcome.Answered();
        }
        catch (RpcException e)
        {
            return RequestOutcome.Failed(e.StatusCode.ToString());
        }
    }

    public ValueTask DisposeAsync()
    {
        _channel.Dispose();
        return ValueTask.CompletedTask;
    }

    private DateTime Deadline() => (_time.GetUtcNow() + _deadline).UtcDateTime;
}

/// <summary>One HTTP/2 connection to a proxy.</summary>
internal static class GrpcConnection
{
    /// <param name="address">The proxy's address.</param>
    /// <param name="from">The local address to call from; empty for the system's choice.</param>
    /// <param name="caFile">The certificate file of the authority to trust; empty for the system's authorities.</param>
    public static GrpcChannel Open(string address, string from = "", string caFile = "")
    {
        var handler = new SocketsHttpHandler { EnableMultipleHttp2Connections = false };
        if (from.Length > 0)
        {
            var own = new IPEndPoint(IPAddress.Parse(from), 0);
            handler.ConnectCallback = (context, cancellationToken) => ConnectAsync(own, context.DnsEndPoint, cancellationToken);
        }
        if (caFile.Length > 0)
        {
            handler.SslOptions.CertificateChainPolicy = StackCredentials.TrustIn(caFile);
        }
        return GrpcChannel.ForAddress(address, new GrpcChannelOptions { HttpHandler = handler, DisposeHttpClient = true });
    }

    private static async ValueTask<Stream> ConnectAsync(IPEndPoint own, DnsEndPoint proxy, CancellationToken cancellationToken)
    {
        var socket = new Socket(own.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            socket.Bind(own);
            await socket.ConnectAsync(proxy, cancellationToken);
            return new NetworkStream(socket, ownsSocket: true);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }
}
