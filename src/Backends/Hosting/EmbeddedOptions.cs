using System.ComponentModel.DataAnnotations;

namespace Billing.Backends.Hosting;

/// <summary>How many handlers a process without Kafka has; section <c>Billing:Embedded</c>.</summary>
public sealed class EmbeddedOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Embedded";

    /// <summary>Payment backends.</summary>
    [Range(1, 1000, ErrorMessage = "Billing:Embedded:PaymentBackends must be within 1 and 1000.")]
    public int PaymentBackends { get; set; } = 1;

    /// <summary>Balance backends.</summary>
    [Range(1, 1000, ErrorMessage = "Billing:Embedded:BalanceBackends must be within 1 and 1000.")]
    public int BalanceBackends { get; set; } = 1;
}
