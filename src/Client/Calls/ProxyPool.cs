using System.Net;
using System.Net.Security;
using Billing.V1;
using Grpc.Core;
using Grpc.Core.Interceptors;
using Grpc.Net.Client;
using Microsoft.Extensions.Logging;

namespace Billing.Client;

/// <summary>All proxies, selected by round robin. Thread-safe.</summary>
internal sealed class ProxyPool : IDisposable
{
    private readonly BillingClientOptions _options;
    private readonly string _section;
    private readonly TimeProvider _time;
    private readonly Proxy[] _fixed;
    private readonly NamedProxies[] _named;
    private int _turn;

    public ProxyPool(BillingClientOptions options, string section, TimeProvider time, ILogger log)
    {
        (_options, _section, _time) = (options, section, time);
        var tls = Certificates.Load(options.Tls, section);
        _fixed =
        [
            .. options.Proxies.Where(address => !ProxyName.Is(address))
                .Select(address => Proxy.At(new Uri(address), null, null, options, tls, time, log)),
        ];
        _named = [.. options.Proxies.Where(ProxyName.Is).Select(name =>
        {
            var address = ProxyName.Parse(name, options.DnsPlaintext)!;
            return new NamedProxies(
                address.IdnHost, options.Resolve,
                (ip, named) => Proxy.At(address, ip, named, options, tls, time, log), time, log);
        })];
    }

    public IReadOnlyList<Proxy> All =>
        _named.Length == 0 ? _fixed : [.. _fixed, .. _named.SelectMany(named => named.All)];

    public uint NextTurn() => (uint)Interlocked.Increment(ref _turn);

    /// <summary>Completes when there is a proxy, which takes time only before the first addresses
    /// of names are known.</summary>
    /// <param name="deadline">When to give up; null for the default deadline.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="RpcException">There is none.</exception>
    public ValueTask ReadyAsync(DateTime? deadline, CancellationToken cancellationToken) =>
        _named.Length == 0 ? ValueTask.CompletedTask : LookedUpAsync(deadline, cancellationToken);

    /// <summary>Returns the proxy of a turn. Proxies with an open circuit are skipped, which advances the turn.
    /// If all circuits are open, none is skipped: an attempt that may fail is better than none.</summary>
    public Proxy Choose(ref uint turn)
    {
        var proxies = All;
        for (var skipped = 0u; skipped < proxies.Count; skipped++)
        {
            var proxy = proxies[(int)((turn + skipped) % (uint)proxies.Count)];
            if (proxy.Circuit.TryAllowCall())
            {
                turn += skipped;
                return proxy;
            }
        }
        return proxies[(int)(turn % (uint)proxies.Count)];
    }

    public void Dispose()
    {
        foreach (var proxy in All)
        {
            proxy.Dispose();
        }
    }

    private async ValueTask LookedUpAsync(DateTime? deadline, CancellationToken cancellationToken)
    {
        var lookUps = Task.WhenAll(_named.Select(named => named.ReadyAsync()));
        if (All.Count > 0)
        {
            return;
        }
        var left = deadline is { } end ? end - _time.GetUtcNow().UtcDateTime : _options.Deadline;
        try
        {
            await lookUps.WaitAsync(ProxyCalls.TimerOf(left), _time, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            throw new RpcException(new Status(
                StatusCode.DeadlineExceeded,
                $"The attempt was not sent: the names in {_section}:Proxies are still being looked up."));
        }
        if (All.Count == 0)
        {
            throw new RpcException(new Status(
                StatusCode.Unavailable,
                $"The attempt was not sent: no name in {_section}:Proxies has an address: "
                    + $"{string.Join("; ", _named.Select(named => named.Failure))}"));
        }
    }
}

/// <summary>One proxy: its gRPC services and its circuit breaker.</summary>
/// <param name="address">Its address, which its certificate has to be for.</param>
/// <param name="ip">Where it is, if it is one of several behind a name.</param>
/// <param name="name">Its address, as messages name it.</param>
/// <param name="named">They, if so.</param>
/// <param name="channel">The channel to it.</param>
/// <param name="calls">Makes calls over the channel.</param>
/// <param name="circuit">Its circuit breaker.</param>
internal sealed class Proxy(
    Uri address, IPAddress? ip, string name, NamedProxies? named, GrpcChannel channel,
    CallInvoker calls, Circuit circuit) : IDisposable
{
    private static readonly TimeSpan HungMax = TimeSpan.FromMinutes(1);

    public IPAddress? Ip => ip;

    /// <summary>Its host, as metrics name it.</summary>
    public string Host => ip?.ToString() ?? address.Host;

    public int Port => address.Port;

    public Circuit Circuit => circuit;

    /// <summary>Its address, as messages name it.</summary>
    public string Name => name;

    public CallInvoker Calls => calls;

    /// <summary>The class that protoc generates. Its calls have the proxy's name as their host, as
    /// <see cref="UnaryCalls"/>'s have.</summary>
    public BillingService.BillingServiceClient Billing { get; } =
        new BillingService.BillingServiceClient(calls).WithHost(name);

    public static Proxy At(
        Uri address, IPAddress? ip, NamedProxies? named, BillingClientOptions options,
        SslClientAuthenticationOptions tls, TimeProvider time, ILogger log)
    {
        var name = NameOf(address, ip);
        var connect = new Connector(options.Resolve, ip).ConnectAsync;
        var handler = new SocketsHttpHandler
        {
            // A burst needs more streams than one connection has.
            EnableMultipleHttp2Connections = true,
            PooledConnectionIdleTimeout = TimeSpan.FromMinutes(5),
            ConnectCallback = connect,
            // For a process that hangs, whose kernel still answers, and streams, which have no deadline. Nothing
            // shorter: a busy proxy on a slow machine takes its time, and retries would add to its load.
            KeepAlivePingPolicy = HttpKeepAlivePingPolicy.WithActiveRequests,
            KeepAlivePingDelay = HungMax,
            KeepAlivePingTimeout = HungMax,
            // The same for the handshake of TLS, which is the work of the process.
            ConnectTimeout = HungMax,
            // Each its own: a hook may change them.
            SslOptions = new SslClientAuthenticationOptions
            {
                RemoteCertificateValidationCallback = tls.RemoteCertificateValidationCallback,
                ClientCertificateContext = tls.ClientCertificateContext,
            },
        };
        var hooked = options.HttpHandler?.Invoke(handler) ?? handler;
        if (ip is not null)
        {
            // A proxy of the network, or another way to connect, would choose another address.
            (handler.UseProxy, handler.ConnectCallback) = (false, connect);
        }
        var channel = GrpcChannel.ForAddress(
            address, new GrpcChannelOptions { HttpHandler = hooked, DisposeHttpClient = true });
        return new Proxy(address, ip, name, named, channel, channel.Intercept([.. options.Interceptors]),
            new Circuit(name, options, time, log));
    }

    /// <summary>Records the outcome of a call or a stream; null if it was answered.</summary>
    public ValueTask RecordOutcomeAsync(RpcException? failure)
    {
        if (named is not null && failure is not null && ProxyFailure.IsProxySpecific(failure))
        {
            named.Doubt();
        }
        return circuit.RecordOutcomeAsync(failure);
    }

    public void Dispose() => channel.Dispose();

    private static string NameOf(Uri address, IPAddress? ip) =>
        ip is null ? address.GetLeftPart(UriPartial.Authority) : $"{address.GetLeftPart(UriPartial.Authority)} ({ip})";
}
