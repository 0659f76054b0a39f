using Billing.Backends.Hosting;
using Billing.Hosting;
using Billing.Rpc.Rpcx;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Options;

namespace Billing.Rpc.Backends;

/// <summary>A backend that the proxies call directly, without Kafka: it serves payments and balances for its
/// share of the accounts in one process. It listens for commands at a separate address; <c>Urls</c> is for
/// health checks only.</summary>
public static class DirectBackend
{
    /// <summary>Adds the backend.</summary>
    public static void AddDirectBackend(this WebApplicationBuilder builder)
    {
        var direct = builder.Services.AddSettings<DirectOptions>(
            builder.Configuration, DirectOptions.Section,
            options => options.BackendProblems().Concat(ExposureProblems(options.Listen, builder.Configuration)));
        // Each of several backends owns the accounts that the proxies send to its address.
        builder.Services.AddEmbeddedBackends(builder.Configuration, "direct " + direct.Listen);
        builder.Services.AddSingleton<CommandExecutor>();
        builder.Services.AddHostedService(provider => provider.GetRequiredService<CommandExecutor>());
        builder.Services.AddSingleton<IReadyPart>(provider => provider.GetRequiredService<CommandExecutor>());
        builder.Services.AddGrpc();
        builder.Services.AddSingleton<IConfigureOptions<KestrelServerOptions>, CommandServer>();
        if (direct.KnownProtocol == DirectProtocol.Rpcx)
        {
            builder.Services.AddRpcxCommands();
        }
        else if (direct.Listen.Length > 0)
        {
            builder.AlsoListen("http://" + direct.Listen);
        }
    }

    /// <summary>Maps the endpoint of the configured protocol.</summary>
    public static void MapDirectBackend(this WebApplication app)
    {
        // RPCX has its own server.
        if (app.Services.GetRequiredService<IOptions<DirectOptions>>().Value.KnownProtocol == DirectProtocol.Grpc)
        {
            app.MapGrpcService<GrpcBackendService>();
        }
    }

    // Whoever can connect to it can charge any account.
    private static IEnumerable<string> ExposureProblems(string listen, IConfiguration configuration) =>
        listen.Length == 0 || ServiceAddresses.IsLoopback("http://" + listen)
        || configuration.GetValue<bool>(ServiceAddresses.InsecureSetting) ? [] :
        [
            $"Billing:Direct:Listen: '{listen}' may be reached from other machines, and a backend executes every "
                + "command without authentication. "
            + "Listen on a loopback address, or, on a network where everybody is trusted, set "
            + $"{ServiceAddresses.InsecureSetting}=true.",
        ];

    // Registered after the executor, so that it stops before it: commands already taken are still answered.
    private static void AddRpcxCommands(this IServiceCollection services) =>
        services.AddServiceTime().AddHostedService(provider =>
        {
            var server = new RpcxServer(
                provider.GetRequiredService<IOptions<DirectOptions>>().Value.ListenEndPoint()!,
                provider.GetRequiredService<TimeProvider>(), provider.GetRequiredService<ILogger<RpcxServer>>(),
                provider.GetRequiredService<Supervisor>());
            server.Publish<IBackendService>(new RpcxBackendService(provider.GetRequiredService<CommandExecutor>()));
            return server;
        });

    private sealed class CommandServer(IOptions<DirectOptions> options) : IConfigureOptions<KestrelServerOptions>
    {
        public void Configure(KestrelServerOptions kestrel)
        {
            kestrel.ServeManyCalls(options.Value.StreamsPerConnection);
            kestrel.UseProtocols(
                HttpProtocols.Http1,
                options.Value.KnownProtocol == DirectProtocol.Grpc
                    ? [("http://" + options.Value.Listen, HttpProtocols.Http2)]
                    : []);
        }
    }
}
