using Billing.Hosting;
using Billing.Messaging;
using Billing.Rpc.Rpcx;
using Microsoft.Extensions.Options;

namespace Billing.Rpc.Proxies;

/// <summary>Registers the direct transport.</summary>
public static class DirectServices
{
    /// <summary>Adds the proxy's side of the transport.</summary>
    public static IServiceCollection AddDirectRequestTransport(
        this IServiceCollection services, IConfiguration configuration)
    {
        services.AddSettings<DirectOptions>(configuration, DirectOptions.Section, options => options.ProxyProblems());
        services.AddServiceTime();
        services.AddSingleton(provider =>
        {
            var options = provider.GetRequiredService<IOptions<DirectOptions>>().Value;
            var time = provider.GetRequiredService<TimeProvider>();
            var logger = provider.GetRequiredService<ILogger<DirectTransport>>();
            IBackendChannel Channel(string address) => options.KnownProtocol switch
            {
                DirectProtocol.Rpcx => new RpcxBackendChannel(
                    address, options, time, provider.GetRequiredService<ILogger<RpcxClient>>()),
                _ => new GrpcBackendChannel(address, options, time, logger),
            };
            return new DirectTransport(options.BackendAddresses, Channel, time);
        });
        return services.AddSingleton<IRequestTransport>(provider => provider.GetRequiredService<DirectTransport>());
    }
}
