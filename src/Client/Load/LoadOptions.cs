namespace Billing.Client.Load;

/// <summary>What one load-generating client does.</summary>
public sealed record LoadOptions
{
    /// <summary>Addresses of the proxies.</summary>
    public required IReadOnlyList<string> Proxies { get; init; }

    /// <summary>Payments, all sent at once unless <see cref="Streams"/> says otherwise.</summary>
    public int Requests { get; init; } = 5000;

    /// <summary>Payments per second, evenly, whatever the answers take; 0 for all at once.</summary>
    public int Rate { get; init; }

    /// <summary>Streams that share the payments, each sending as many at a time as its window holds; 0 for a call for each
    /// payment, all at once.</summary>
    public int Streams { get; init; }

    /// <summary>Balance checks, sent with the payments.</summary>
    public int Balances { get; init; }

    /// <summary>Payments before the measured ones, not counted in the figures: they make connections and let the runtime
    /// compile what it is going to need.</summary>
    public int WarmUp { get; init; }

    /// <summary>Accounts that the payments go to, of each payment type.</summary>
    public int Accounts { get; init; } = 2500;

    /// <summary>Payments in euros instead of dollars, in percent: they are declined where an account is kept in dollars.
    /// </summary>
    public int OtherCurrencyPercent { get; init; }

    /// <summary>Seed of accounts and amounts.</summary>
    public int Seed { get; init; }

    /// <summary>How long a request may take.</summary>
    public TimeSpan Deadline { get; init; } = TimeSpan.FromMinutes(2);

    /// <summary>Where to write what was acknowledged; none if null.</summary>
    public string? Journal { get; init; }

    /// <summary>Where to write the measurements as JSON; none if null.</summary>
    public string? Report { get; init; }

    /// <summary>Whether to wait for a line on standard input after the warm-up, so that several clients begin together.
    /// </summary>
    public bool WaitForGo { get; init; }
}
