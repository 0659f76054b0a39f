namespace Billing.Chaos;

/// <summary>What the workers do.</summary>
public sealed record TrafficOptions
{
    /// <summary>Addresses of the proxies.</summary>
    public required IReadOnlyList<string> Proxies { get; init; }

    /// <summary>Where to note what was answered.</summary>
    public required string Journal { get; init; }

    /// <summary>Workers, each with one request at a time.</summary>
    public int Workers { get; init; } = 64;

    /// <summary>Payments per second at most, all workers together.</summary>
    public int Rate { get; init; } = 300;

    /// <summary>Accounts, of each payment type.</summary>
    public int Accounts { get; init; } = 200;

    /// <summary>What the accounts' ids begin with; those of other traffic begin otherwise.</summary>
    public string AccountPrefix { get; init; } = "soak-";

    /// <summary>Seed of accounts and amounts.</summary>
    public int Seed { get; init; }

    /// <summary>Payments sent twice at the same time, in percent.</summary>
    public int TwinPercent { get; init; } = 5;

    /// <summary>Payments after which the balance is asked for, in percent.</summary>
    public int BalancePercent { get; init; } = 10;

    /// <summary>Payments in euros instead of dollars, in percent: they are declined where an account is kept in dollars.
    /// </summary>
    public int OtherCurrencyPercent { get; init; }

    /// <summary>How long a call may take before it is asked again.</summary>
    public TimeSpan Deadline { get; init; } = TimeSpan.FromSeconds(10);
}

/// <summary>What the workers saw.</summary>
public sealed record TrafficResult
{
    /// <summary>Payments answered, copies not counted.</summary>
    public required int Payments { get; init; }

    /// <summary>Of these, the ones declined.</summary>
    public required int Declined { get; init; }

    /// <summary>Of the answered ones, those sent twice at the same time.</summary>
    public required int Twins { get; init; }

    /// <summary>Balance checks answered.</summary>
    public required int Balances { get; init; }

    /// <summary>Payments without an answer at the end.</summary>
    public required int Unanswered { get; init; }

    /// <summary>Calls that the client sent again by itself.</summary>
    public required long Retried { get; init; }

    /// <summary>Calls that had failed for good and were asked again.</summary>
    public required long AskedAgain { get; init; }

    /// <summary>How often which failure was seen after the client's own retries.</summary>
    public required IReadOnlyDictionary<string, long> Failures { get; init; }

    /// <summary>Answers that must not be: unequal to a copy's, or older than asked for.</summary>
    public required IReadOnlyList<string> Violations { get; init; }
}
