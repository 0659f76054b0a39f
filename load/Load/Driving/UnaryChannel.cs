using System.Net;
using System.Net.Sockets;
using Billing.Cli.Credentials;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.Load.Driving;

/// <summary>A gRPC call for each request, all on one connection.</summary>
internal sealed class UnaryChannel : IRequestChannel
{
    private readonly GrpcChannel _channel;
    private readonly V1.Billing.BillingClient _billing;
    private readonly Metadata? _headers;
    private readonly TimeSpan _deadline;
    private readonly TimeProvider _time;

    public UnaryChannel(string address, DriveSpec spec, TimeProvider time)
    {
        _channel = GrpcConnection.Open(address, spec.From, spec.CaFile);
        _headers = spec.Token.Length > 0 ? new Metadata { { "authorization", "Bearer " + spec.Token } } : null;
        _billing = new V1.Billing.BillingClient(_channel);
        _deadline = TimeSpan.FromSeconds(spec.DeadlineS);
        _time = time;
    }

    public async Task<RequestOutcome> PayAsync(MakePaymentRequest request)
    {
        try
        {
            var answer = await _billing.MakePaymentAsync(request, _headers, Deadline());
            return RequestOutcome.Answered(answer.Outcome == PaymentOutcome.Declined);
        }
        catch (RpcException e)
        {
            return RequestOutcome.Failed(e.StatusCode.ToString());
        }
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
    /// <param name="address">The proxy's.</param>
    /// <param name="from">The address of this machine to call from; empty for the system's choice.</param>
    /// <param name="caFile">The certificate of the authority to trust; empty for those of the system.</param>
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
