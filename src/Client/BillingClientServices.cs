using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Client;

/// <summary>Registers the clients, each as a singleton. Their options are validated when the application starts;
/// their log is that of the container.</summary>
public static class BillingClientServices
{
    /// <summary>Adds a <see cref="BillingClient"/>.</summary>
    /// <param name="services">The container's services.</param>
    /// <param name="configure">Sets the options.</param>
    public static IServiceCollection AddBillingClient(
        this IServiceCollection services, Action<BillingClientOptions> configure) =>
        services.AddOptions(Options.DefaultName, BillingClientOptions.Section, configure)
            .AddClient(null, Options.DefaultName, NewClient);

    /// <summary>Adds a <see cref="BillingClient"/> with the options of a section, such as
    /// <see cref="BillingClientOptions.Section"/>.</summary>
    /// <param name="services">The container's services.</param>
    /// <param name="section">The section, whose values are read when the client is created.</param>
    /// <param name="configure">Sets what a section cannot, such as a provider of tokens; null for nothing.</param>
    public static IServiceCollection AddBillingClient(
        this IServiceCollection services, IConfigurationSection section,
        Action<BillingClientOptions>? configure = null) =>
        services.AddOptions(Options.DefaultName, section, configure).AddClient(null, Options.DefaultName, NewClient);

    /// <summary>Adds a <see cref="BillingClient"/> that is asked for by a key, <c>[FromKeyedServices(key)]</c>,
    /// for one of several platforms or callers.</summary>
    /// <param name="services">The container's services.</param>
    /// <param name="serviceKey">The key.</param>
    /// <param name="configure">Sets the options.</param>
    public static IServiceCollection AddKeyedBillingClient(
        this IServiceCollection services, string serviceKey, Action<BillingClientOptions> configure)
    {
        var name = KeyedName(BillingClientOptions.Section, serviceKey);
        return services.AddOptions(name, name, configure).AddClient(serviceKey, name, NewClient);
    }

    /// <summary>Adds a <see cref="BillingClient"/> with the options of a section that is asked for by a key.</summary>
    /// <param name="services">The container's services.</param>
    /// <param name="serviceKey">The key.</param>
    /// <param name="section">The section, whose values are read when the client is created.</param>
    /// <param name="configure">Sets what a section cannot, such as a provider of tokens; null for nothing.</param>
    public static IServiceCollection AddKeyedBillingClient(
        this IServiceCollection services, string serviceKey, IConfigurationSection section,
        Action<BillingClientOptions>? configure = null)
    {
        var name = KeyedName(BillingClientOptions.Section, serviceKey);
        return services.AddOptions(name, section, configure).AddClient(serviceKey, name, NewClient);
    }

    /// <summary>Adds a <see cref="BillingAdminClient"/>.</summary>
    /// <param name="services">The container's services.</param>
    /// <param name="configure">Sets the options, those named <see cref="BillingAdminClient.Section"/>.</param>
    public static IServiceCollection AddBillingAdminClient(
        this IServiceCollection services, Action<BillingClientOptions> configure) => services
        .AddOptions(BillingAdminClient.Section, BillingAdminClient.Section, configure)
            .AddClient(null, BillingAdminClient.Section, NewAdminClient);

    /// <summary>Adds a <see cref="BillingAdminClient"/> with the options of a section, such as
    /// <see cref="BillingAdminClient.Section"/>.</summary>
    /// <param name="services">The container's services.</param>
    /// <param name="section">The section, whose values are read when the client is created.</param>
    /// <param name="configure">Sets what a section cannot, such as a provider of tokens; null for nothing.</param>
    public static IServiceCollection AddBillingAdminClient(
        this IServiceCollection services, IConfigurationSection section,
        Action<BillingClientOptions>? configure = null) => services
        .AddOptions(BillingAdminClient.Section, section, configure)
            .AddClient(null, BillingAdminClient.Section, NewAdminClient);

    /// <summary>Adds a <see cref="BillingAdminClient"/> that is asked for by a key.</summary>
    /// <param name="services">The container's services.</param>
    /// <param name="serviceKey">The key.</param>
    /// <param name="configure">Sets the options.</param>
    public static IServiceCollection AddKeyedBillingAdminClient(
        this IServiceCollection services, string serviceKey, Action<BillingClientOptions> configure)
    {
        var name = KeyedName(BillingAdminClient.Section, serviceKey);
        return services.AddOptions(name, name, configure).AddClient(serviceKey, name, NewAdminClient);
    }

    /// <summary>Adds a <see cref="BillingAdminClient"/> with the options of a section that is
    /// asked for by a key.</summary>
    /// <param name="services">The container's services.</param>
    /// <param name="serviceKey">The key.</param>
    /// <param name="section">The section, whose values are read when the client is created.</param>
    /// <param name="configure">Sets what a section cannot, such as a provider of tokens; null for nothing.</param>
    public static IServiceCollection AddKeyedBillingAdminClient(
        this IServiceCollection services, string serviceKey, IConfigurationSection section,
        Action<BillingClientOptions>? configure = null)
    {
        var name = KeyedName(BillingAdminClient.Section, serviceKey);
        return services.AddOptions(name, section, configure).AddClient(serviceKey, name, NewAdminClient);
    }

    // The name of the options, and of their settings in error messages when they are not those of a section.
    private static string KeyedName(string section, string serviceKey) => $"{section}({serviceKey})";

    private static BillingClient NewClient(BillingClientOptions options, TimeProvider time) => new(options, time);

    private static BillingAdminClient NewAdminClient(BillingClientOptions options, TimeProvider time) =>
        new(options, time);

    private static IServiceCollection AddOptions(
        this IServiceCollection services, string name,
        IConfigurationSection section, Action<BillingClientOptions>? configure)
    {
        ArgumentNullException.ThrowIfNull(section);
        return services.AddOptions(name, section.Path, options =>
        {
            // A misspelt setting would otherwise leave the default in force.
            section.Bind(options, binder => binder.ErrorOnUnknownConfiguration = true);
            configure?.Invoke(options);
        });
    }

    private static IServiceCollection AddOptions(
        this IServiceCollection services, string name, string path, Action<BillingClientOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(configure);
        services.AddOptions<BillingClientOptions>(name).Configure(configure).Configure(options => options.Path = path)
            .PostConfigure<IServiceProvider>(
                (options, provider) => options.LoggerFactory ??= provider.GetService<ILoggerFactory>())
            .ValidateOnStart();
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IValidateOptions<BillingClientOptions>, Validation>());
        services.TryAddSingleton(TimeProvider.System);
        return services;
    }

    private static IServiceCollection AddClient<T>(
        this IServiceCollection services, string? key, string name, Func<BillingClientOptions, TimeProvider, T> create)
        where T : class
    {
        services.TryAddKeyedSingleton(key, (provider, _) => create(
            provider.GetRequiredService<IOptionsMonitor<BillingClientOptions>>().Get(name),
            provider.GetRequiredService<TimeProvider>()));
        return services;
    }

    private sealed class Validation : IValidateOptions<BillingClientOptions>
    {
        public ValidateOptionsResult Validate(string? name, BillingClientOptions options) =>
            options.ValidationErrors(options.Path ?? BillingClientOptions.Section).ToList() is { Count: > 0 } problems
                ? ValidateOptionsResult.Fail(problems)
                : ValidateOptionsResult.Success;
    }
}
