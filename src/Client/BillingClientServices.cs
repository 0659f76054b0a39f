using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;

namespace Billing.Client;

/// <summary>Registers the clients.</summary>
public static class BillingClientServices
{
    /// <summary>Adds a <see cref="BillingClient"/> as a singleton, also as <see cref="IBillingClient"/>. Its options are
    /// validated when the application starts.</summary>
    public static IServiceCollection AddBillingClient(
        this IServiceCollection services, Action<BillingClientOptions> configure)
    {
        AddOptions(services, Options.DefaultName, configure);
        services.TryAddSingleton(provider => new BillingClient(
            provider.GetRequiredService<IOptions<BillingClientOptions>>().Value,
            provider.GetRequiredService<TimeProvider>()));
        services.TryAddSingleton<IBillingClient>(provider => provider.GetRequiredService<BillingClient>());
        return services;
    }

    /// <summary>Adds a <see cref="BillingAdminClient"/> as a singleton, also as <see cref="IBillingAdminClient"/>. Its options, those named
    /// <see cref="BillingAdminClient.Section"/>, are validated when the application starts.</summary>
    public static IServiceCollection AddBillingAdminClient(
        this IServiceCollection services, Action<BillingClientOptions> configure)
    {
        AddOptions(services, BillingAdminClient.Section, configure);
        services.TryAddSingleton(provider => new BillingAdminClient(
            provider.GetRequiredService<IOptionsMonitor<BillingClientOptions>>().Get(BillingAdminClient.Section),
            provider.GetRequiredService<TimeProvider>()));
        services.TryAddSingleton<IBillingAdminClient>(provider => provider.GetRequiredService<BillingAdminClient>());
        return services;
    }

    private static void AddOptions(IServiceCollection services, string name, Action<BillingClientOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.AddOptions<BillingClientOptions>(name).Configure(configure).ValidateOnStart();
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IValidateOptions<BillingClientOptions>, Validation>());
        services.TryAddSingleton(TimeProvider.System);
    }

    private sealed class Validation : IValidateOptions<BillingClientOptions>
    {
        public ValidateOptionsResult Validate(string? name, BillingClientOptions options) =>
            options.ValidationErrors(name == Options.DefaultName ? BillingClientOptions.Section : name!).ToList() is { Count: > 0 } problems
                ? ValidateOptionsResult.Fail(problems)
                : ValidateOptionsResult.Success;
    }
}
