using System.ComponentModel.DataAnnotations;

namespace Billing.Backends.Hosting;

/// <summary>The number of handlers in a process without Kafka; section <c>Billing:Embedded</c>.</summary>
public sealed class EmbeddedOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Embedded";

    /// <summary>Number of payment backends.</summary>
    [Range(1, 1000)]
    public int PaymentBackends { get; set; } = 1;

    /// <summary>Number of balance backends.</summary>
    [Range(1, 1000)]
    public int BalanceBackends { get; set; } = 1;
}
