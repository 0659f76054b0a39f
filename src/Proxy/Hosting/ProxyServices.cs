using Billing.Hosting;
using Billing.Hosting.Telemetry;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Live;
using Billing.Proxy.Rest;
using Billing.Proxy.Security;
using Billing.Proxy.Security.Certificates;
using Billing.Proxy.Telemetry;
using Grpc.AspNetCore.Server;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Options;
using ServiceDescriptor = Google.Protobuf.Reflection.ServiceDescriptor;

namespace Billing.Proxy.Hosting;

/// <summary>Registers the services of a proxy, whatever its transport.</summary>
internal static class ProxyServices
{
    /// <summary>The platform's own gRPC services, which the health service reports individually.</summary>
    public static IReadOnlyList<ServiceDescriptor> PublicServices { get; } =
    [
        V1.BillingService.Descriptor, V1.BillingAdminService.Descriptor,
    ];

    /// <summary>Adds everything but the transport, which has to be there.</summary>
    public static void AddProxy(this WebApplicationBuilder builder, string name = "billing-proxy")
    {
        AddCalls(builder.Services, builder.Configuration);
        builder.AddRest();
        builder.AddLive();
        builder.AddSecurity();
        builder.AddTelemetry(name, callersDecide: false);
    }

    /// <summary>Maps the public API, health and reflection, in the order in which middleware sees a call:
    /// what measures it, what turns failures into answers, and what may refuse it.</summary>
    public static void MapProxy(this WebApplication app)
    {
        app.Use(RestServices.HeadAsGet);
        app.UseRouting();
        app.Use(RestServices.KeepPrivate);
        app.UseRateLimiter();
        // Anonymous, since metrics collectors have no token: the admin address is for the operators' network only.
        app.MapTelemetry()?.AllowAnonymous().ForOperators();
        app.Use(app.Services.GetRequiredService<CallMetrics>().InvokeAsync);
        app.MapLive();
        app.Use(app.Services.GetRequiredService<CallErrors>().InvokeAsync);
        app.MapGrpcService<GrpcService>().NeedScopes(V1.BillingService.Descriptor).AsGrpc();
        app.MapGrpcService<GrpcAdminService>().NeedScopes(V1.BillingAdminService.Descriptor).ForOperators().AsGrpc();
        app.MapGrpcHealthChecksService().AllowAnonymous().RequireRateLimiting(AnonymousCalls.Name).AsGrpc();
        app.MapGrpcReflectionService().AllowAnonymous().RequireRateLimiting(AnonymousCalls.Name).AsGrpc();
        app.MapRest();
        app.UseSecurity();
    }

    private static void AddCalls(IServiceCollection services, IConfiguration configuration)
    {
        services.AddSettings<ProxyOptions>(configuration, ProxyOptions.Section);
        services.AddServiceTime();
        services.AddGrpc(grpc =>
        {
            grpc.MaxReceiveMessageSize = ProxyOptions.RequestBytesRead;
            grpc.Interceptors.Add<CallErrors>();
        });
        // No limit holds for what a compressed message unpacks to, up to a thousand times as much, and no message of
        // this API is worth compressing. After all others, since the library adds its providers where there are none.
        services.PostConfigure<GrpcServiceOptions>(grpc => grpc.CompressionProviders.Clear());
        services.AddApiReflection();
        services.AddGrpcHealthChecks(
            health => PublicServices.ToList().ForEach(service => health.Services.Map(service.FullName, _ => true)))
            .AddCheck<Drain>("drain");
        // CallErrors logs errors of this program. The remaining ones are caused by callers, who could fill
        // the log with them.
        services.AddLogging(logging => logging
            .AddFilter("Grpc.AspNetCore.Server", LogLevel.None)
            .AddFilter("Microsoft.Extensions.Diagnostics.HealthChecks", LogLevel.None));
        services.AddSingleton<IConfigureOptions<KestrelServerOptions>, FrontServer>();
        services.AddOptions<HostOptions>().Configure<IOptions<ProxyOptions>>(
            (host, proxy) => host.ShutdownTimeout = proxy.Value.DrainTimeout + StopTimes.Ending);
        services
            .AddSingleton<CallErrors>()
            .AddSingleton<CallMetrics>()
            .AddSingleton<Admission>()
            .AddSingleton<RequestHandler>()
            .AddSingleton<Drain>()
            .AddSingleton<IReadyPart>(provider => provider.GetRequiredService<Drain>())
            .AddHostedService(provider => provider.GetRequiredService<Drain>());
    }

    /// <summary>The most unread data of one call: enough for a stream's whole window of ordinary payments.</summary>
    internal const int StreamWindowBytes = 128 * 1024;

    private sealed class FrontServer(
        IOptions<ProxyOptions> options, IOptions<LimitOptions> limits, IOptions<RestOptions> rest,
        IOptions<AdminOptions> admin, IOptions<TlsOptions> tls,
        TlsServer server) : IConfigureOptions<KestrelServerOptions>
    {
        public void Configure(KestrelServerOptions kestrel)
        {
            kestrel.ServeManyCalls(options.Value.StreamsPerConnection);
            kestrel.Limits.MaxConcurrentConnections = options.Value.ConnectionsMax;
            kestrel.Limits.MaxRequestHeadersTotalSize = limits.Value.HeaderBytesMax;
            kestrel.Limits.RequestHeadersTimeout = limits.Value.HeadersTimeout;
            kestrel.Limits.KeepAliveTimeout = limits.Value.ConnectionIdleMax;
            kestrel.Limits.Http2.InitialStreamWindowSize = StreamWindowBytes;
            var connections = new ConnectionLimits(limits.Value.ConnectionsPerAddress);
            // gRPC without TLS needs HTTP/2 by prior knowledge.
            kestrel.UseProtocols(
                HttpProtocols.Http2, Further(),
                endpoint => endpoint.Use(next => connection => connections.ServeAsync(connection, next)));
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
