using System.ComponentModel.DataAnnotations;

namespace Billing.Backends;

/// <summary>What a backend does and how much at a time; section <c>Billing:Backend</c>.</summary>
public sealed class BackendOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Backend";

    /// <summary>Which requests the process serves, over Kafka; elsewhere it serves both.</summary>
    public BackendRole? Role { get; set; }

    /// <summary>Commands that one transaction takes at most. A batch is whatever has piled up while the one before it was
    /// stored, so a small load sees small batches.</summary>
    [Range(1, 10_000, ErrorMessage = "Billing:Backend:BatchMax must be within 1 and 10000.")]
    public int BatchMax { get; set; } = 1000;

    /// <summary>Commands taken and not yet answered at which the backend pauses its partitions. With jitter on, this
    /// bounds how many card-network calls wait at the same time.</summary>
    [Range(1, 1_000_000, ErrorMessage = "Billing:Backend:InFlightMax must be within 1 and 1000000.")]
    public int InFlightMax { get; set; } = 50_000;

    /// <summary>Accounts kept in memory; those not used for longest are dropped and read again when they are needed.
    /// </summary>
    [Range(1, 10_000_000, ErrorMessage = "Billing:Backend:CachedAccountsMax must be within 1 and 10000000.")]
    public int CachedAccountsMax { get; set; } = 200_000;

    /// <summary>How long the event store may be away before the callers that have waited that long are told UNAVAILABLE.
    /// Their commands stay; each one's transaction id tells whether it was recorded after all.</summary>
    public TimeSpan StoreAwayMax { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>What an account may owe before a limit of its own is set, in units of its currency.</summary>
    [Range(0, 1e15, ErrorMessage = "Billing:Backend:DefaultCreditLimit must be within 0 and 10^15.")]
    public decimal DefaultCreditLimit { get; set; } = 10_000;

    /// <summary>How long a balance check that names a min_version waits for the view to reach it, before the event store is
    /// asked; at most a minute. It never waits longer than half of the time to its deadline.</summary>
    public TimeSpan MinVersionWait { get; set; } = TimeSpan.FromMilliseconds(500);

    /// <summary>What is wrong with the settings taken together, naming each.</summary>
    public IEnumerable<string> Problems()
    {
        if (BatchMax > InFlightMax)
        {
            yield return $"Billing:Backend:BatchMax ({BatchMax}) must not be above Billing:Backend:InFlightMax ({InFlightMax}): such a batch could never fill.";
        }
        if (StoreAwayMax <= TimeSpan.Zero)
        {
            yield return $"Billing:Backend:StoreAwayMax ({StoreAwayMax}) must be above zero.";
        }
        if (MinVersionWait < TimeSpan.Zero || MinVersionWait > TimeSpan.FromMinutes(1))
        {
            yield return $"Billing:Backend:MinVersionWait ({MinVersionWait}) must be within zero and one minute.";
        }
    }
}

/// <summary>What a backend process serves.</summary>
public enum BackendRole
{
    /// <summary>MakePayment: the write side.</summary>
    Payments,

    /// <summary>CheckBalance: the read side.</summary>
    Balances,
}
