using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Billing.Client;
using Grpc.Net.Client;

namespace Billing.Driver.Channels;

/// <summary>Opens the channels of a load.</summary>
internal static class Connections
{
    /// <summary>Opens a channel to one proxy; one of the SDK distributes its calls over all of them.</summary>
    public static IRequestChannel Open(LoadSpec spec, string address, TimeProvider time)
    {
        var deadline = TimeSpan.FromSeconds(spec.DeadlineS);
        return spec.Protocol switch
        {
            LoadProtocol.Sdk => new SdkChannel(Sdk(spec, spec.Addresses, time), spec.TimedEvery, time),
            LoadProtocol.Unary => new UnaryChannel(OpenGrpc(address, spec.From, spec.CaFile), spec, time),
            LoadProtocol.Stream => new DeadlineChannel(new StreamChannel(Sdk(spec, [address], time)), deadline, time),
            LoadProtocol.Rest => new DeadlineChannel(new RestChannel(address), deadline, time),
            _ => throw new InvalidOperationException($"Unknown protocol {spec.Protocol}."),
        };
    }

    private static BillingClient Sdk(LoadSpec spec, IReadOnlyList<string> addresses, TimeProvider time)
    {
        // The share of retries is not limited: a load that is meant to be too much still has to get its answers.
        var options = new BillingClientOptions
        {
            Deadline = TimeSpan.FromSeconds(spec.DeadlineS),
            RetryShare = null,
            StreamWindow = spec.StreamWindow,
            Token = spec.Token.Length > 0 ? spec.Token : null,
        };
        options.Tls.CaFile = spec.CaFile.Length > 0 ? spec.CaFile : null;
        options.RetriesMax = spec.RetriesMax ?? options.RetriesMax;
        foreach (var address in addresses)
        {
            options.Proxies.Add(address);
        }
        return new BillingClient(options, time);
    }

    /// <summary>Opens one HTTP/2 connection.</summary>
    /// <param name="address">The proxy's address.</param>
    /// <param name="from">The local address to call from; empty for the system's choice.</param>
    /// <param name="caFile">The certificate file of the authority to trust; empty for the system's authorities.</param>
    private static GrpcChannel OpenGrpc(string address, string from, string caFile)
    {
        var handler = new SocketsHttpHandler { EnableMultipleHttp2Connections = false };
        if (from.Length > 0)
        {
            var own = new IPEndPoint(IPAddress.Parse(from), 0);
            handler.ConnectCallback = (context, cancellationToken) => ConnectAsync(own, context.DnsEndPoint, cancellationToken);
        }
        if (caFile.Length > 0)
        {
            handler.SslOptions.CertificateChainPolicy = TrustIn(caFile);
        }
        return GrpcChannel.ForAddress(address, new GrpcChannelOptions { HttpHandler = handler, DisposeHttpClient = true });
    }

    private static X509ChainPolicy TrustIn(string caFile)
    {
        var policy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck };
        policy.CustomTrustStore.ImportFromPemFile(caFile);
        return policy;
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
