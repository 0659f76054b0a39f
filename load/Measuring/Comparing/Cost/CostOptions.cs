namespace Billing.Measuring.Comparing.Cost;

/// <summary>The options of the measurement.</summary>
internal sealed record CostOptions
{
    /// <summary>Number of payments in flight.</summary>
    public required int InFlight { get; init; }

    /// <summary>Number of measured rounds; one more runs before them and is dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>Duration of each measurement.</summary>
    public required TimeSpan During { get; init; }
}
