using Billing.V1;
using Grpc.Net.Client;

namespace Billing.Client;

/// <summary>One proxy: its services, and whether it is worth calling.</summary>
internal sealed class Proxy : IDisposable
{
    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan SilenceMax = TimeSpan.FromSeconds(5);

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

    /// <summary>What every client calls.</summary>
    public V1.Billing.BillingClient Billing { get; }

    /// <summary>What operators call.</summary>
    public BillingAdmin.BillingAdminClient Admin { get; }

    public void Dispose() => _channel.Dispose();

    private static GrpcChannel Connect(Uri address, TlsOptions tls) => GrpcChannel.ForAddress(address, new GrpcChannelOptions
    {
        HttpHandler = new SocketsHttpHandler
        {
            // A burst needs more streams than one connection has.
            EnableMultipleHttp2Connections = true,
            PooledConnectionIdleTimeout = TimeSpan.FromMinutes(5),
            // A proxy whose host or zone is lost says nothing, and its calls go to another one. One that is merely overrun may take
            // its time, and must not be given more to do for it.
            KeepAlivePingDelay = SilenceMax,
            KeepAlivePingTimeout = 2 * SilenceMax,
            // A stream has no deadline that would end the attempt to reach a host that does not answer.
            ConnectTimeout = ConnectTimeout,
            SslOptions = Certificates.Load(tls),
        },
        DisposeHttpClient = true,
    });
}
