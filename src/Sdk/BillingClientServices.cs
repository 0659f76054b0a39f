using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;

namespace Billing.Client;

/// <summary>Registers the client.</summary>
public static class BillingClientServices
{
    /// <summary>Adds a <see cref="BillingClient"/> that lives as long as the application.</summary>
    public static IServiceCollection AddBillingClient(
        this IServiceCollection services, Action<BillingClientOptions> configure)
    {
        services.AddOptions<BillingClientOptions>().Configure(configure)
            .Validate(options => !options.Problems().Any(), "Billing:Client:Proxies, Billing:Client:Deadline or Billing:Client:StreamWindow cannot be used.")
            .ValidateOnStart();
        services.TryAddSingleton(TimeProvider.System);
        return services.AddSingleton(provider => new BillingClient(
            provider.GetRequiredService<IOptions<BillingClientOptions>>().Value,
            provider.GetRequiredService<TimeProvider>()));
    }
}
