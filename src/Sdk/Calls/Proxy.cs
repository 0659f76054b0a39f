using Billing.V1;
using Grpc.Net.Client;

namespace Billing.Client;

/// <summary>One proxy: its gRPC services and its circuit breaker.</summary>
internal sealed class Proxy : IDisposable
{
    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan InactivityMax = TimeSpan.FromSeconds(5);

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
            // Detects a proxy whose host or zone has failed silently, so that its calls are retried on another one. Long enough
            // for a proxy that is only overloaded, because retries would add to its load.
            KeepAlivePingDelay = InactivityMax,
            KeepAlivePingTimeout = 2 * InactivityMax,
            // Streams have no deadline that would end a connection attempt to an unresponsive host.
            ConnectTimeout = ConnectTimeout,
            SslOptions = Certificates.Load(tls),
        },
        DisposeHttpClient = true,
    });
}
