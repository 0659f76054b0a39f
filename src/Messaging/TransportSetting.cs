using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Options;

namespace Billing.Messaging;

/// <summary>The setting <c>Billing:Transport</c>, which says what a process is made of and so is read before it is built.
/// </summary>
public static class TransportSetting
{
    /// <summary>The setting's key.</summary>
    public const string Key = "Billing:Transport";

    /// <summary>Reads the setting; letters count the same in either case.</summary>
    /// <exception cref="OptionsValidationException">It is neither kafka nor direct.</exception>
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
