using System.ComponentModel.DataAnnotations;
using System.Globalization;
using System.Reflection;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Billing.Hosting;

/// <summary>Binds settings to options and validates them at start. A name that is not a setting is an error:
/// a misspelt setting would otherwise be ignored, and the service would run with the default.</summary>
public static class SettingsValidation
{
    private const string Root = "Billing";

    /// <summary>The sections and single settings below <c>Billing</c>, of all services:
    /// one environment may serve several.</summary>
    public static IReadOnlyList<string> Sections { get; } =
    [
        "Admin", "AdminClient", "Auth", "Backend", "Client", "Direct", "Embedded", "EventStore",
        "Insecure", "Jitter", "Kafka", "Limits", "Live",
        "Proxy", "Rest", "SecretsFolder", "Telemetry", "Tls", "Webhooks",
    ];

    /// <summary>Binds a section, given by its path such as <c>Billing:Kafka</c>, to options. At start their values are
    /// validated by attributes and by the rules of <see cref="IRelatedSettings"/>, the names in the section by the
    /// options' properties, and the whole by <paramref name="problems"/>: the errors, each as a sentence that names the
    /// setting; null if there are no others.</summary>
    /// <returns>The options as they are now, not validated, for what has to be known before
    /// the host is built.</returns>
    public static T AddSettings<T>(
        this IServiceCollection services, IConfiguration configuration, string section,
        Func<T, IEnumerable<string>>? problems = null)
        where T : class, new()
    {
        var values = configuration.GetSection(section);
        services.AddOptions<T>().Bind(values).ValidateOnStart();
        services.AddSingleton<IValidateOptions<T>>(new ProblemValidation<T>(options =>
            Problems(options, section).Concat(UnknownNames(values, typeof(T))).Concat(Unnamed(values, typeof(T)))
                .Concat(problems?.Invoke(options) ?? [])));
        return values.Get<T>() ?? new T();
    }

    /// <summary>The values that their attributes do not allow, each as a sentence that names the setting: "must be
    /// between", or the attribute's <see cref="ValidationAttribute.ErrorMessage"/>, follows the name; then the rules
    /// between settings that are broken.</summary>
    public static IEnumerable<string> Problems(object options, string section) => (
        from property in options.GetType().GetProperties()
        from attribute in property.GetCustomAttributes<ValidationAttribute>()
        let value = property.GetValue(options)
        where !attribute.IsValid(value)
        select $"{section}:{property.Name} {attribute.ErrorMessage ?? Bounds((RangeAttribute)attribute, value)}")
        .Concat(options is IRelatedSettings related
            ? related.Rules().Where(rule => !rule.Holds).Select(rule => rule.ToString())
            : []);

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

    private static string Bounds(RangeAttribute range, object? value)
    {
        var (min, max) = (Limit(range.Minimum), Limit(range.Maximum));
        return $"must be {(range.MinimumIsExclusive ? $"above {min} and at most" : $"between {min} and")} {max}; "
            + $"it is {Quantity.Text(value)}.";
    }

    private static string Limit(object limit) =>
        Quantity.Text(limit is TimeSpan ? limit : Convert.ToDecimal(limit, CultureInfo.InvariantCulture));

    private static IEnumerable<string> UnknownNames(IConfigurationSection section, IReadOnlyCollection<string> known) =>
        section.GetChildren().Select(child => child.Key)
            .Where(name => !known.Contains(name, StringComparer.OrdinalIgnoreCase))
            .Select(name => $"{section.Path}:{name} is not a setting; {section.Path} has {string.Join(", ", known)}.");

    // Also below the names of a section that the operator chooses, such as Billing:Auth:Certificates:NAME.
    private static IEnumerable<string> UnknownNames(IConfigurationSection section, Type options) =>
        UnknownNames(section, NamesOf(options)).Concat(
            from property in options.GetProperties()
            where property.PropertyType is { IsGenericType: true } type
                && type.GetGenericTypeDefinition() == typeof(Dictionary<,>)
            from named in section.GetSection(property.Name).GetChildren()
            from unknown in UnknownNames(named, NamesOf(property.PropertyType.GenericTypeArguments[1]))
            select unknown);

    // The binder ignores what is not below a name.
    private static IEnumerable<string> Unnamed(IConfigurationSection section, Type options) =>
        from property in options.GetProperties()
        where property.PropertyType is { IsGenericType: true } type
            && type.GetGenericTypeDefinition() == typeof(Dictionary<,>)
        let named = section.GetSection(property.Name)
        where named.Value is { Length: > 0 }
        select $"{named.Path} is no setting by itself, but {named.Path}:NAME is; it is '{named.Value}'.";

    // What the binder sets: properties with a setter, and collections that it fills.
    private static List<string> NamesOf(Type options) =>
    [
        .. options.GetProperties()
            .Where(property => property.SetMethod is { IsPublic: true }
                || property.PropertyType == typeof(IDictionary<string, string>))
            .Select(property => property.Name),
    ];
}

/// <summary>The bounds of a setting that is a time, both included unless
/// <see cref="RangeAttribute.MinimumIsExclusive"/> is set.</summary>
[AttributeUsage(AttributeTargets.Property)]
public sealed class TimeRangeAttribute : RangeAttribute
{
    /// <summary>States the bounds, in the form of settings: <c>00:00:10</c>, <c>1.00:00:00</c> for a day.</summary>
    public TimeRangeAttribute(string min, string max)
        : base(typeof(TimeSpan), min, max) => ParseLimitsInInvariantCulture = true;
}

/// <summary>Validates settings that attributes cannot check, such as two that limit each other.</summary>
/// <param name="problems">Returns the errors, each as a sentence that names the setting.</param>
public sealed class ProblemValidation<T>(Func<T, IEnumerable<string>> problems) : IValidateOptions<T>
    where T : class
{
    /// <inheritdoc/>
    public ValidateOptionsResult Validate(string? name, T options)
    {
        var found = problems(options).ToList();
        return found.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(found);
    }
}
