using System.ComponentModel.DataAnnotations;

namespace Billing.Backends.CardNetwork;

/// <summary>The delays of the simulated card network; section <c>Billing:Jitter</c>. The default ranges are those of the
/// billing prototype: payments 100 to 1000 ms, balance checks 2 to 5 s, uniformly distributed.</summary>
internal sealed class JitterOptions
{
    public const string Section = "Billing:Jitter";

    /// <summary>Whether there is any delay at all.</summary>
    public bool Enabled { get; set; }

    public TimeSpan PaymentMin { get; set; } = TimeSpan.FromMilliseconds(100);

    public TimeSpan PaymentMax { get; set; } = TimeSpan.FromMilliseconds(1000);

    public TimeSpan BalanceMin { get; set; } = TimeSpan.FromSeconds(2);

    public TimeSpan BalanceMax { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>The most concurrent calls that the network takes from one backend; further calls wait. 0 for no limit.
    /// </summary>
    [Range(0, 1_000_000)]
    public int ConcurrencyMax { get; set; }

    /// <summary>Seed of the delays; 0 takes one from the clock.</summary>
    public int Seed { get; set; }

    /// <summary>One message for each invalid setting, naming it.</summary>
    public IEnumerable<string> ValidationErrors()
    {
        if (PaymentMin < TimeSpan.Zero || PaymentMin > PaymentMax)
        {
            yield return $"Billing:Jitter:PaymentMin ({PaymentMin}) must be between zero and Billing:Jitter:PaymentMax ({PaymentMax}).";
        }
        if (BalanceMin < TimeSpan.Zero || BalanceMin > BalanceMax)
        {
            yield return $"Billing:Jitter:BalanceMin ({BalanceMin}) must be between zero and Billing:Jitter:BalanceMax ({BalanceMax}).";
        }
    }
}
