using Billing.LocalStack;

namespace Billing.Measuring.Bursts;

/// <summary>One run of the billing prototype's experiment.</summary>
public sealed record RunOptions
{
    /// <summary>What to run it on.</summary>
    public required StackOptions Stack { get; init; }

    /// <summary>Load-generating clients.</summary>
    public int Clients { get; init; } = 3;

    /// <summary>Payments that each client sends at once.</summary>
    public int Requests { get; init; } = 5000;

    /// <summary>Balance checks that each client sends with them.</summary>
    public int Balances { get; init; } = 500;

    /// <summary>Payments that each client sends before the measured ones.</summary>
    public int WarmUp { get; init; } = 1000;

    /// <summary>The command, for the report.</summary>
    public required string CommandLine { get; init; }

    /// <summary>Where to write the report as JSON, with its page beside it; none if null.</summary>
    public string? Report { get; init; }
}
