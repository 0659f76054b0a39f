using Billing.V1;
using Grpc.Net.Client;

namespace Billing.Client;

/// <summary>One proxy: its gRPC services and its circuit breaker.</summary>
internal sealed class Proxy : IDisposable
{
    private static readonly TimeSpan HungMax = TimeSpan.FromMinutes(1);

    private readonly GrpcChannel _channel;

    public Proxy(string address, BillingClientOptions options, TimeProvider time)
    {
        Address = new Uri(address);
        Circuit = new Circuit(options, time);
        _channel = Connect(Address, options.Tls);
        Billing = new V1.Billing.BillingClient(_channel);
        Admin = new BillingAdmin.BillingAdminClient(_channel);
    }

    public Uri Address { get; }

    public Circuit Circuit { get; }

    /// <summary>The service for all clients.</summary>
    public V1.Billing.BillingClient Billing { get; }

    /// <summary>The service for operators.</summary>
    public BillingAdmin.BillingAdminClient Admin { get; }

    public void Dispose() => _channel.Dispose();

    private static GrpcChannel Connect(Uri address, TlsOptions tls) => GrpcChannel.ForAddress(address, new GrpcChannelOptions
    {
        HttpHandler = new SocketsHttpHandler
        {
            // A burst needs more streams than one connection has.
            EnableMultipleHttp2Connections = true,
            PooledConnectionIdleTimeout = TimeSpan.FromMinutes(5),
            ConnectCallback = new Connector().ConnectAsync,
            // For a process that hangs, whose kernel still answers, and streams, which have no deadline. Nothing shorter: a busy proxy
            // on a slow machine takes its time, and retries would add to its load.
            KeepAlivePingPolicy = HttpKeepAlivePingPolicy.WithActiveRequests,
            KeepAlivePingDelay = HungMax,
            KeepAlivePingTimeout = HungMax,
            // The same for the handshake of TLS, which is the work of the process.
            ConnectTimeout = HungMax,
            SslOptions = Certificates.Load(tls),
        },
        DisposeHttpClient = true,
    });
}
