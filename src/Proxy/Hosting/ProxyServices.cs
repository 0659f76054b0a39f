using Billing.Hosting;
using Billing.Hosting.Telemetry;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Live;
using Billing.Proxy.Memory;
using Billing.Proxy.Rest;
using Billing.Proxy.Security;
using Billing.Proxy.Security.Certificates;
using Billing.Proxy.Telemetry;
using Grpc.AspNetCore.Server;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using ServiceDescriptor = Google.Protobuf.Reflection.ServiceDescriptor;

namespace Billing.Proxy.Hosting;

/// <summary>Registers the services of a proxy, whatever its transport.</summary>
internal static partial class ProxyServices
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
        LogMemory(app.Logger, app.Services.GetRequiredService<ProxyMemory>());
        app.Use(app.Services.GetRequiredService<OpenRequests>().InvokeAsync);
        app.Use(ConnectionAge.InvokeAsync);
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
        app.Use(app.Services.GetRequiredService<RequestBodies>().InvokeAsync);
    }

    private static void AddCalls(IServiceCollection services, IConfiguration configuration)
    {
        services.AddSettings<ProxyOptions>(configuration, ProxyOptions.Section);
        services.AddServiceTime();
        services.AddGrpc(grpc => grpc.Interceptors.Add<CallErrors>());
        services.AddOptions<GrpcServiceOptions>().Configure<IOptions<ProxyOptions>>(
            (grpc, proxy) => grpc.MaxReceiveMessageSize = proxy.Value.RequestBytesRead);
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
        // By default a megabyte for each connection that sends faster than it is read.
        services.Configure<SocketTransportOptions>(sockets => sockets.MaxReadBufferSize = ReadBufferBytes);
        services.TryAddSingleton(_ => MemoryBudget.OfProcess());
        services.AddOptions<HostOptions>().Configure<IOptions<ProxyOptions>>(
            (host, proxy) => host.ShutdownTimeout = proxy.Value.DrainTimeout + StopTimes.Ending);
        services
            .AddSingleton<CallErrors>()
            .AddSingleton<CallMetrics>()
            .AddSingleton<ProxyMemory>()
            .AddSingleton<ConnectionLimits>()
            .AddSingleton(provider => new ConnectionAges(
                provider.GetRequiredService<IOptions<LimitOptions>>().Value,
                provider.GetRequiredService<IOptions<ProxyOptions>>().Value.DeadlineMax,
                provider.GetRequiredService<TimeProvider>()))
            .AddSingleton<OpenRequests>()
            .AddSingleton<RequestBodies>()
            .AddSingleton<Admission>()
            .AddSingleton<RequestHandler>()
            .AddSingleton<Drain>()
            .AddSingleton<IReadyPart>(provider => provider.GetRequiredService<Drain>())
            .AddHostedService(provider => provider.GetRequiredService<Drain>());
    }

    private const int ReadBufferBytes = 64 * 1024;

    // All calls of a connection together, until they are read.
    private const int ConnectionWindowBytes = 1024 * 1024;

    [LoggerMessage(1, LogLevel.Information, "Callers may hold, {Parts}")]
    private static partial void LogMemory(ILogger logger, ProxyMemory parts);

    private sealed class FrontServer(
        IOptions<ProxyOptions> options, IOptions<LimitOptions> limits, IOptions<RestOptions> rest,
        IOptions<AdminOptions> admin, IOptions<TlsOptions> tls,
        TlsServer server, ConnectionLimits connections, ConnectionAges ages, IConfiguration configuration)
        : IConfigureOptions<KestrelServerOptions>
    {
        public void Configure(KestrelServerOptions kestrel)
        {
            kestrel.ServeManyCalls(options.Value.StreamsPerConnection);
            kestrel.Limits.MaxRequestHeadersTotalSize = limits.Value.HeaderBytesMax;
            kestrel.Limits.RequestHeadersTimeout = limits.Value.HeadersTimeout;
            kestrel.Limits.KeepAliveTimeout = limits.Value.ConnectionIdleMax;
            kestrel.Limits.MaxRequestBufferSize = ReadBufferBytes;
            kestrel.Limits.Http2.InitialStreamWindowSize = ProxyOptions.StreamWindowBytes;
            kestrel.Limits.Http2.InitialConnectionWindowSize = ConnectionWindowBytes;
            if (tls.Value.IsOn)
            {
                kestrel.ConfigureHttpsDefaults(server.Configure);
            }
            // gRPC without TLS needs HTTP/2 by prior knowledge.
            kestrel.UseProtocols(HttpProtocols.Http2, Further(), Limit);
        }

        // Connections are counted before TLS, and what is written to them is noted within it.
        private void Limit(ListenOptions endpoint)
        {
            endpoint.Use(next => connection => connections.ServeAsync(connection, next));
            endpoint.Use(next => connection => ages.ServeAsync(connection, next));
            var port = endpoint.IPEndPoint?.Port;
            var hasTls = Exposure.Addresses(configuration)
                .Any(a => ServiceAddresses.HasTls(a.Url) && BindingAddress.Parse(a.Url).Port == port);
            if (hasTls)
            {
                endpoint.UseHttps();
            }
            var isHttp2 = endpoint.Protocols == HttpProtocols.Http2 && !hasTls;
            endpoint.Use(next => connection => ConnectionLimits.MeterAsync(connection, isHttp2, next));
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
