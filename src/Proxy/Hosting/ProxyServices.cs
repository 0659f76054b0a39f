using Billing.Hosting;
using Billing.Proxy.Calls;
using Billing.Proxy.Limits;
using Billing.Proxy.Rest;
using Billing.Proxy.Security;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Options;
using ServiceDescriptor = Google.Protobuf.Reflection.ServiceDescriptor;

namespace Billing.Proxy.Hosting;

/// <summary>Registers the services of a proxy, whatever its transport.</summary>
public static class ProxyServices
{
    /// <summary>The platform's own gRPC services, which the health service reports individually.</summary>
    public static IReadOnlyList<ServiceDescriptor> PublicServices { get; } = [V1.Billing.Descriptor, V1.BillingAdmin.Descriptor];

    /// <summary>Adds the gRPC services and their server.</summary>
    public static IServiceCollection AddProxy(this IServiceCollection services, IConfiguration configuration)
    {
        services.AddSettings<ProxyOptions>(configuration, ProxyOptions.Section, options => options.ValidationErrors());
        services.AddServiceTime();
        services.AddGrpc(grpc =>
        {
            grpc.MaxReceiveMessageSize = MessageBytesMax;
            grpc.Interceptors.Add<CallErrors>();
        });
        services.AddGrpcReflection();
        services.AddGrpcHealthChecks(health => PublicServices.ToList().ForEach(service => health.Services.Map(service.FullName, _ => true)))
            .AddCheck<Drain>("drain");
        // CallErrors logs errors of this program. The remaining ones are caused by callers, who could fill the log with them.
        services.AddLogging(logging => logging
            .AddFilter("Grpc.AspNetCore.Server", LogLevel.None)
            .AddFilter("Microsoft.Extensions.Diagnostics.HealthChecks", LogLevel.None));
        services.AddSingleton<IConfigureOptions<KestrelServerOptions>, FrontServer>();
        services.AddOptions<HostOptions>().Configure<IOptions<ProxyOptions>>(
            (host, proxy) => host.ShutdownTimeout = proxy.Value.DrainTimeout + TimeSpan.FromSeconds(10));
        return services
            .AddSingleton<CallErrors>()
            .AddSingleton<CallerRates>()
            .AddSingleton<Admission>()
            .AddSingleton<RequestHandler>()
            .AddSingleton<Drain>()
            .AddSingleton<IReadyPart>(provider => provider.GetRequiredService<Drain>())
            .AddHostedService(provider => provider.GetRequiredService<Drain>());
    }

    /// <summary>Maps the public API, health and reflection.</summary>
    public static void MapProxy(this WebApplication routes)
    {
        routes.Use(routes.Services.GetRequiredService<CallErrors>().InvokeAsync);
        routes.MapGrpcService<BillingService>();
        routes.MapGrpcService<BillingAdminService>().ForOperators();
        routes.MapGrpcHealthChecksService().AllowAnonymous();
        routes.MapGrpcReflectionService().AllowAnonymous();
    }

    private const int StreamWindowBytes = 128 * 1024;

    // A request between Billing:Proxy:RequestBytesMax and this size is still read, so that the refusal can state its size.
    private const int MessageBytesMax = 64 * 1024;

    private sealed class FrontServer(
        IOptions<ProxyOptions> options, IOptions<LimitOptions> limits, IOptions<RestOptions> rest, IOptions<AdminOptions> admin,
        IOptions<TlsOptions> tls, TlsServer server) : IConfigureOptions<KestrelServerOptions>
    {
        public void Configure(KestrelServerOptions kestrel)
        {
            kestrel.ServeManyCalls(options.Value.StreamsPerConnection);
            kestrel.Limits.MaxConcurrentConnections = options.Value.ConnectionsMax;
            kestrel.Limits.MaxRequestHeadersTotalSize = limits.Value.HeaderBytesMax;
            kestrel.Limits.RequestHeadersTimeout = limits.Value.HeadersTimeout;
            kestrel.Limits.KeepAliveTimeout = limits.Value.ConnectionIdleMax;
            // The most unread data of one call: enough for a stream's whole window of ordinary payments.
            kestrel.Limits.Http2.InitialStreamWindowSize = StreamWindowBytes;
            var connections = new ConnectionLimits(limits.Value.ConnectionsPerAddress);
            // gRPC without TLS needs HTTP/2 by prior knowledge.
            kestrel.UseProtocols(HttpProtocols.Http2, Further(), endpoint => endpoint.Use(next => connection => connections.ServeAsync(connection, next)));
            if (tls.Value.IsOn)
            {
                kestrel.ConfigureHttpsDefaults(server.Configure);
            }
        }

        private IEnumerable<(string Url, HttpProtocols Protocols)> Further()
        {
            foreach (var url in new[] { rest.Value.Url, admin.Value.Url }.Where(url => url.Length > 0))
            {
                yield return (url, ServiceAddresses.HasTls(url) ? HttpProtocols.Http1AndHttp2 : HttpProtocols.Http1);
            }
            if (admin.Value.GrpcUrl.Length > 0)
            {
                yield return (admin.Value.GrpcUrl, HttpProtocols.Http2);
            }
        }
    }
}
