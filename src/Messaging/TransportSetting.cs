using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Options;

namespace Billing.Messaging;

/// <summary>The setting <c>Billing:Transport</c>. It decides which services are registered, so it is read before the host is
/// built.</summary>
public static class TransportSetting
{
    /// <summary>The setting's key.</summary>
    public const string Key = "Billing:Transport";

    /// <summary>Reads the setting, ignoring case; the default is <see cref="TransportKind.Kafka"/>.</summary>
    /// <exception cref="OptionsValidationException">The value is neither kafka nor direct.</exception>
    public static TransportKind Read(IConfiguration configuration)
    {
        var value = configuration[Key];
        if (string.IsNullOrEmpty(value) || value.Equals("kafka", StringComparison.OrdinalIgnoreCase))
        {
            return TransportKind.Kafka;
        }
        return value.Equals("direct", StringComparison.OrdinalIgnoreCase)
            ? TransportKind.Direct
            : throw new OptionsValidationException(
                Key, typeof(TransportKind), [$"{Key} must be kafka or direct; it is '{value}'."]);
    }
}
