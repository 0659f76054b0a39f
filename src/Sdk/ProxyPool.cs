using Billing.V1;
using Grpc.Net.Client;

namespace Billing.Client;

/// <summary>The services of one proxy.</summary>
/// <param name="Billing">What every client calls.</param>
/// <param name="Admin">What operators call.</param>
internal sealed record ProxyServices(V1.Billing.BillingClient Billing, BillingAdmin.BillingAdminClient Admin);

/// <summary>Connections to all proxies, and whose turn it is. Safe from any thread.</summary>
internal sealed class ProxyPool : IDisposable
{
    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan SilenceMax = TimeSpan.FromSeconds(5);

    private readonly GrpcChannel[] _channels;
    private readonly ProxyServices[] _proxies;
    private int _turn;

    public ProxyPool(IEnumerable<string> addresses)
    {
        _channels = [.. addresses.Select(Connect)];
        _proxies = [.. _channels.Select(channel => new ProxyServices(
            new V1.Billing.BillingClient(channel), new BillingAdmin.BillingAdminClient(channel)))];
    }

    /// <summary>The proxy of a turn; the one after it has the next turn.</summary>
    public ProxyServices this[uint turn] => _proxies[turn % (uint)_proxies.Length];

    /// <summary>Draws a turn for a new call.</summary>
    public uint NextTurn() => (uint)Interlocked.Increment(ref _turn);

    public void Dispose()
    {
        foreach (var channel in _channels)
        {
            channel.Dispose();
        }
    }

    private static GrpcChannel Connect(string address) => GrpcChannel.ForAddress(address, new GrpcChannelOptions
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
        },
        DisposeHttpClient = true,
    });
}
