namespace Billing.LoadClient;

/// <summary>The options of one load-generating client.</summary>
public sealed record LoadOptions
{
    /// <summary>Addresses of the proxies.</summary>
    public required IReadOnlyList<string> Proxies { get; init; }

    /// <summary>Number of payments, all sent at once unless <see cref="Rate"/> or <see cref="Streams"/> is set.</summary>
    public int Requests { get; init; } = 5000;

    /// <summary>Payments per second, evenly spaced, whatever the latency of the answers; 0 for all at once.</summary>
    public int Rate { get; init; }

    /// <summary>Number of streams that share the payments, each with as many in flight as its window allows; 0 for one call per
    /// payment, all at once.</summary>
    public int Streams { get; init; }

    /// <summary>Number of balance checks, sent with the payments.</summary>
    public int Balances { get; init; }

    /// <summary>Number of payments before the measured ones. They are not part of the figures: they open the connections and let
    /// the runtime compile the code.</summary>
    public int WarmUp { get; init; }

    /// <summary>Number of accounts of each payment type.</summary>
    public int Accounts { get; init; } = 2500;

    /// <summary>Share of payments in euros instead of dollars, in percent: they are declined if the account is kept in dollars.
    /// </summary>
    public int OtherCurrencyPercent { get; init; }

    /// <summary>Seed of the random accounts and amounts.</summary>
    public int Seed { get; init; }

    /// <summary>How long a request may take.</summary>
    public TimeSpan Deadline { get; init; } = TimeSpan.FromMinutes(2);

    /// <summary>The file for the journal of payments and balances; null for none.</summary>
    public string? Journal { get; init; }

    /// <summary>The file for the measurements as JSON; null for none.</summary>
    public string? Report { get; init; }

    /// <summary>Whether to wait for a line on standard input after the warm-up, so that several clients can start together.
    /// </summary>
    public bool WaitForGo { get; init; }
}
