using Billing.ScenarioFiles;

namespace Billing.Measuring.Scenarios;

/// <summary>The load of a run, the system under load, and the thresholds of the results.</summary>
internal sealed record LoadPlan
{
    /// <summary>The scenario's name.</summary>
    public required string Scenario { get; init; }

    public required LoadShape Shape { get; init; }

    /// <summary>Percentage of calls that are payments; the others are balance checks.</summary>
    public int PaymentPercent { get; init; } = 100;

    /// <summary>What a call does with its payment.</summary>
    public Following Following { get; init; }

    /// <summary>Number of clients, each with connections of its own, that the calls are distributed over.</summary>
    public int Clients { get; init; } = 1;

    /// <summary>Duration of the warm-up; zero for none.</summary>
    public TimeSpan WarmUp { get; init; }

    /// <summary>Number of accounts of each payment type that the calls are distributed over.</summary>
    public int Accounts { get; init; } = 2500;

    /// <summary>The system under load, and the folder of the reports.</summary>
    public required MeasuredSystem Subject { get; init; }

    /// <summary>The thresholds that the run must meet.</summary>
    public IReadOnlyList<Threshold> Thresholds { get; init; } = [Threshold.ByDefault];
}
