using Billing.Hosting;
using Microsoft.Extensions.Options;

namespace Billing.Rpc.Rpcx.Serving;

/// <summary>Registers RPCX in a host.</summary>
public static class RpcxServices
{
    /// <summary>Adds a server with the settings of <see cref="RpcxServerOptions.Section"/>; it starts and stops with the host.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration.</param>
    /// <param name="publish">Publishes the implementations.</param>
    public static IServiceCollection AddRpcxServer(
        this IServiceCollection services, IConfiguration configuration, Action<IServiceProvider, RpcxServer> publish)
    {
        services.AddSettings<RpcxServerOptions>(configuration, RpcxServerOptions.Section, options => options.ValidationErrors());
        services.AddServiceTime();
        services.AddSingleton(provider =>
        {
            var server = new RpcxServer(
                provider.GetRequiredService<IOptions<RpcxServerOptions>>().Value,
                provider.GetRequiredService<TimeProvider>(),
                provider.GetRequiredService<ILogger<RpcxServer>>(),
                provider.GetRequiredService<Supervisor>());
            publish(provider, server);
            return server;
        });
        return services.AddHostedService(provider => provider.GetRequiredService<RpcxServer>());
    }
}
