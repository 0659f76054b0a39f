using Billing.V1;
using Grpc.Net.Client;

namespace Billing.Client;

/// <summary>All proxies, selected by round robin. Thread-safe.</summary>
internal sealed class ProxyPool(BillingClientOptions options, string section, TimeProvider time) : IDisposable
{
    private readonly Proxy[] _proxies = [.. options.Proxies.Select(address => Proxy.At(new Uri(address), options, section, time))];
    private int _turn;

    public IReadOnlyList<Proxy> All => _proxies;

    public uint NextTurn() => (uint)Interlocked.Increment(ref _turn);

    /// <summary>Returns the proxy of a turn. Proxies with an open circuit are skipped, which advances the turn. If all circuits
    /// are open, none is skipped: an attempt that may fail is better than none.</summary>
    public Proxy Choose(ref uint turn)
    {
        for (var skipped = 0u; skipped < _proxies.Length; skipped++)
        {
            var proxy = _proxies[(turn + skipped) % (uint)_proxies.Length];
            if (proxy.Circuit.TryAllowCall())
            {
                turn += skipped;
                return proxy;
            }
        }
        return _proxies[turn % (uint)_proxies.Length];
    }

    public void Dispose() => Array.ForEach(_proxies, proxy => proxy.Dispose());
}

/// <summary>One proxy: its gRPC services and its circuit breaker.</summary>
internal sealed class Proxy(Uri address, GrpcChannel channel, Circuit circuit) : IDisposable
{
    private static readonly TimeSpan HungMax = TimeSpan.FromMinutes(1);

    public Uri Address => address;

    public Circuit Circuit => circuit;

    public V1.Billing.BillingClient Billing { get; } = new(channel);

    public BillingAdmin.BillingAdminClient Admin { get; } = new(channel);

    public static Proxy At(Uri address, BillingClientOptions options, string section, TimeProvider time)
    {
        var handler = new SocketsHttpHandler
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
            SslOptions = Certificates.Load(options.Tls, section),
        };
        var channel = GrpcChannel.ForAddress(address, new GrpcChannelOptions { HttpHandler = handler, DisposeHttpClient = true });
        return new Proxy(address, channel, new Circuit(options, time));
    }

    public void Dispose() => channel.Dispose();
}
