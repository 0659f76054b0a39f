using System.Globalization;
using Billing.Backends;
using Billing.Backends.CardNetwork;
using Billing.Proxy;
using Billing.Proxy.Limits;
using Microsoft.Extensions.Options;

namespace Billing.Simulation;

/// <summary>The settings of the platform in one run, with limits so small that short runs reach them.</summary>
internal sealed record Settings(
    int Proxies, int PaymentBackends, int BalanceBackends, int Partitions, int BatchMax, int InFlightMax,
    int CachedAccountsMax, bool Jitter, double LatencyMs, int Seed)
{
    /// <summary>The most by which the wall clock of a process differs from the right time, in milliseconds.</summary>
    public int ClockSkewMs { get; init; }

    /// <summary>Whether the processes have the services' steady clocks, since wall clocks are set.</summary>
    public bool IsSteady { get; init; }

    /// <summary>Number of webhook services.</summary>
    public int WebhookServices { get; init; }

    /// <summary>The most accounts in a view of the balances.</summary>
    public int ViewAccountsMax => Seed % 3 == 0 ? 3 : 1000;

    /// <summary>Number of databases of the event store.</summary>
    public int Databases => Seed % 2 == 0 ? 1 : 2 + (Seed / 2 % 2);

    /// <summary>With how many events the first account begins the run.</summary>
    public int HistoryEvents => Seed % 7 == 0 ? 90 + (Seed / 7 % 60) : 0;

    /// <summary>The credit limit of an account in US dollars for which none was set.</summary>
    public decimal CreditLimit { get; init; } = UsualCreditLimit;

    /// <summary>That of accounts by their currency, which in some runs lists one only.</summary>
    public IReadOnlyDictionary<string, decimal> OpeningLimits => Seed % 4 == 0
        ? new Dictionary<string, decimal> { ["USD"] = CreditLimit }
        : new Dictionary<string, decimal> { ["USD"] = CreditLimit, ["EUR"] = CreditLimit / 2 };

    /// <summary>The limit of commands in flight that no run reaches.</summary>
    public const int InFlightUsual = 50_000;

    /// <summary>The credit limit in US dollars at the beginning of a run.</summary>
    public const decimal UsualCreditLimit = 100;

    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{Proxies} proxies, {PaymentBackends} payment backends, {BalanceBackends} balance backends, {WebhookServices} "
            + $"webhook services, {Partitions} partitions, batches of {BatchMax}, {InFlightMax} in flight, "
            + $"{CachedAccountsMax} cached and {ViewAccountsMax} viewed accounts, jitter {(Jitter ? "on" : "off")}, "
            + $"{LatencyMs} ms to the brokers, clocks up to {ClockSkewMs} ms off, {Databases} databases");

    public IOptions<BackendOptions> Backend => Options.Create(new BackendOptions
    {
        BatchMax = Math.Min(BatchMax, InFlightMax),
        InFlightMax = InFlightMax,
        CachedAccountsMax = CachedAccountsMax,
        ViewAccountsMax = ViewAccountsMax,
        StoredAnswersMax = Math.Min(InFlightMax, 16),
        OpeningLimits = OpeningLimits.ToDictionary(
            limit => limit.Key, limit => limit.Value.ToString(CultureInfo.InvariantCulture)),
        StoreUnavailableMax = TimeSpan.FromSeconds(2),
        HoldExpiryInterval = TimeSpan.FromSeconds(2),
    });

    public IOptions<JitterOptions> CardNetwork => Options.Create(new JitterOptions
    {
        Enabled = Jitter,
        BalanceMin = TimeSpan.FromMilliseconds(100),
        BalanceMax = TimeSpan.FromMilliseconds(500),
        Seed = Seed,
    });

    public static IOptions<LimitOptions> Limits { get; } = Options.Create(new LimitOptions());

    public static IOptions<ProxyOptions> Proxy { get; } = Options.Create(new ProxyOptions());

    /// <summary>Creates random settings.</summary>
    public static Settings Of(Dice dice) => new(
        Proxies: dice.Between(1, 3),
        PaymentBackends: dice.Between(1, 3),
        BalanceBackends: dice.Between(1, 2),
        Partitions: dice.Between(1, 3),
        BatchMax: dice.Pick([1, 2, 5, 1000]),
        InFlightMax: dice.Pick([2, 8, InFlightUsual]),
        CachedAccountsMax: dice.Pick([2, 4, 1000]),
        Jitter: dice.Chance(0.4),
        LatencyMs: dice.Pick([1.0, 5.0, 50.0]),
        Seed: dice.Seed());
}
