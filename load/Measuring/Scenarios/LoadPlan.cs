using Billing.Scenarios;

namespace Billing.Measuring.Scenarios;

/// <summary>What a load run does to which system, and what it must show.</summary>
internal sealed record LoadPlan
{
    /// <summary>The scenario's name.</summary>
    public required string Scenario { get; init; }

    /// <summary>How calls come.</summary>
    public required LoadShape Shape { get; init; }

    /// <summary>Of 100 calls, how many are payments; the others check a balance.</summary>
    public int PaymentPercent { get; init; } = 100;

    /// <summary>Clients with connections of their own that share the calls.</summary>
    public int Clients { get; init; } = 1;

    /// <summary>Load before the measured one; none if zero.</summary>
    public TimeSpan WarmUp { get; init; }

    /// <summary>Accounts that the calls go to, of each payment type.</summary>
    public int Accounts { get; init; } = 2500;

    /// <summary>What to run it on, and where the reports go.</summary>
    public required MeasuredSystem Subject { get; init; }

    /// <summary>What must hold for the run to pass.</summary>
    public IReadOnlyList<Threshold> Thresholds { get; init; } = [Threshold.ByDefault];
}
