using System.ComponentModel.DataAnnotations;
using Billing.Hosting;

namespace Billing.Backends.CardNetwork;

/// <summary>The delays of the simulated card network; section <c>Billing:Jitter</c>. The default ranges are those of
/// the billing prototype: payments 100 to 1000 ms, balance checks 2 to 5 s, uniformly distributed.</summary>
internal sealed class JitterOptions : IRelatedSettings
{
    public const string Section = "Billing:Jitter";

    /// <summary>Whether there is any delay at all.</summary>
    public bool Enabled { get; set; }

    [TimeRange("00:00:00", "01:00:00")]
    public TimeSpan PaymentMin { get; set; } = TimeSpan.FromMilliseconds(100);

    [TimeRange("00:00:00", "01:00:00")]
    public TimeSpan PaymentMax { get; set; } = TimeSpan.FromMilliseconds(1000);

    [TimeRange("00:00:00", "01:00:00")]
    public TimeSpan BalanceMin { get; set; } = TimeSpan.FromSeconds(2);

    [TimeRange("00:00:00", "01:00:00")]
    public TimeSpan BalanceMax { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>The most concurrent calls that the network takes from one backend; further calls wait. 0 for no limit.
    /// </summary>
    [Range(0, 1_000_000)]
    public int ConcurrencyMax { get; set; }

    /// <summary>Seed of the delays; 0 takes one from the clock.</summary>
    public int Seed { get; set; }

    /// <inheritdoc/>
    public IEnumerable<Rule> Rules() =>
    [
        Range(nameof(PaymentMin), PaymentMin, nameof(PaymentMax), PaymentMax),
        Range(nameof(BalanceMin), BalanceMin, nameof(BalanceMax), BalanceMax),
    ];

    private static Rule Range(string min, TimeSpan from, string max, TimeSpan to) => Rule.AtMost(
        Quantity.Of($"{Section}:{min}", from), Quantity.Of($"{Section}:{max}", to), "a delay is between them");
}
