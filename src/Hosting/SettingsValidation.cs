using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Billing.Hosting;

/// <summary>Binds settings to options and validates them at start. A name that is not a setting is an error: a misspelt setting
/// would otherwise be ignored, and the service would run with the default.</summary>
public static class SettingsValidation
{
    private const string Root = "Billing";

    /// <summary>The sections and single settings below <c>Billing</c>, of all services: one environment may serve several.
    /// </summary>
    public static IReadOnlyList<string> Sections { get; } =
    [
        "Admin", "Auth", "Backend", "Client", "Direct", "Embedded", "EventStore", "Insecure", "Jitter", "Kafka", "Limits", "Live",
        "Proxy", "Rest", "Rpcx", "SecretsFolder", "Telemetry", "Tls",
    ];

    /// <summary>Binds a section to options. At start their values are validated by attributes, the names in the section by the
    /// options' properties, and the whole by <paramref name="problems"/>.</summary>
    /// <param name="services">The services.</param>
    /// <param name="configuration">The configuration with the section.</param>
    /// <param name="section">The section's path, e.g. <c>Billing:Kafka</c>.</param>
    /// <param name="problems">Returns the errors, each as a sentence that names the setting; null if attributes suffice.</param>
    public static IServiceCollection AddSettings<T>(
        this IServiceCollection services, IConfiguration configuration, string section, Func<T, IEnumerable<string>>? problems = null)
        where T : class
    {
        var values = configuration.GetSection(section);
        services.AddOptions<T>().Bind(values).ValidateDataAnnotations().ValidateOnStart();
        services.AddSingleton<IValidateOptions<T>>(new ProblemValidation<T>(_ => UnknownNames(values, NamesOf(typeof(T)))));
        return problems is null ? services : services.AddSingleton<IValidateOptions<T>>(new ProblemValidation<T>(problems));
    }

    /// <summary>Refuses sections and settings below <c>Billing</c> that no service has.</summary>
    /// <exception cref="OptionsValidationException">There is one.</exception>
    public static void RefuseUnknownSections(IConfiguration configuration)
    {
        var unknown = UnknownNames(configuration.GetSection(Root), Sections).ToList();
        if (unknown.Count > 0)
        {
            throw new OptionsValidationException(Root, typeof(object), unknown);
        }
    }

    private static IEnumerable<string> UnknownNames(IConfigurationSection section, IReadOnlyCollection<string> known) =>
        section.GetChildren().Select(child => child.Key)
            .Where(name => !known.Contains(name, StringComparer.OrdinalIgnoreCase))
            .Select(name => $"{section.Path}:{name} is not a setting; {section.Path} has {string.Join(", ", known)}.");

    // What the binder sets: properties with a setter, and collections that it fills.
    private static List<string> NamesOf(Type options) =>
    [
        .. options.GetProperties()
            .Where(property => property.SetMethod is { IsPublic: true } || property.PropertyType == typeof(IDictionary<string, string>))
            .Select(property => property.Name),
    ];
}
