using Billing.Messaging.Direct;
using Billing.Messaging.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Direct;

/// <summary>A backend that is called by the proxies, without Kafka: payments and balances of its share of the accounts in one
/// process. It listens for commands at an address of its own; <c>Urls</c> is for health alone.</summary>
public static class DirectBackend
{
    /// <summary>Adds the backend.</summary>
    public static void AddDirectBackend(this WebApplicationBuilder builder)
    {
        builder.Services.AddDirectOptions(builder.Configuration, options => options.BackendProblems());
        builder.Services.AddEmbeddedBackends(builder.Configuration);
        builder.Services.AddSingleton<CommandExecutor>();
        builder.Services.AddHostedService(provider => provider.GetRequiredService<CommandExecutor>());
        builder.Services.AddGrpc();
        builder.Services.AddSingleton<IConfigureOptions<KestrelServerOptions>, CommandServer>();
        if (builder.Configuration[DirectOptions.Section + ":Listen"] is { Length: > 0 } listen)
        {
            builder.AlsoListen("http://" + listen);
        }
    }

    /// <summary>Maps the protocol that is set.</summary>
    /// <returns>What says whether the backend is ready.</returns>
    public static CommandExecutor MapDirectBackend(this WebApplication app)
    {
        var executor = app.Services.GetRequiredService<CommandExecutor>();
        if (app.Services.GetRequiredService<IOptions<DirectOptions>>().Value.KnownProtocol == DirectProtocol.Rest)
        {
            app.MapRestCommands(executor);
        }
        else
        {
            app.MapGrpcService<GrpcBackendService>();
        }
        return executor;
    }

    private sealed class CommandServer(IOptions<DirectOptions> options) : IConfigureOptions<KestrelServerOptions>
    {
        public void Configure(KestrelServerOptions kestrel)
        {
            kestrel.ServeManyCalls(options.Value.StreamsPerConnection);
            kestrel.Speak(
                HttpProtocols.Http1, "http://" + options.Value.Listen,
                options.Value.KnownProtocol == DirectProtocol.Grpc ? HttpProtocols.Http2 : HttpProtocols.Http1);
        }
    }
}
