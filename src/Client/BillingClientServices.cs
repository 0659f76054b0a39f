using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;

namespace Billing.Client;

/// <summary>Registers the client.</summary>
public static class BillingClientServices
{
    /// <summary>Adds a <see cref="BillingClient"/> as a singleton, also as <see cref="IBillingClient"/>. Its options are
    /// validated when the application starts.</summary>
    public static IServiceCollection AddBillingClient(
        this IServiceCollection services, Action<BillingClientOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.AddOptions<BillingClientOptions>().Configure(configure).ValidateOnStart();
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IValidateOptions<BillingClientOptions>, Validation>());
        services.TryAddSingleton(TimeProvider.System);
        services.TryAddSingleton(provider => new BillingClient(
            provider.GetRequiredService<IOptions<BillingClientOptions>>().Value,
            provider.GetRequiredService<TimeProvider>()));
        services.TryAddSingleton<IBillingClient>(provider => provider.GetRequiredService<BillingClient>());
        return services;
    }

    private sealed class Validation : IValidateOptions<BillingClientOptions>
    {
        public ValidateOptionsResult Validate(string? name, BillingClientOptions options) =>
            options.ValidationErrors().ToList() is { Count: > 0 } problems ? ValidateOptionsResult.Fail(problems) : ValidateOptionsResult.Success;
    }
}
