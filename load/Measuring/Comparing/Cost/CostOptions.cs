namespace Billing.Measuring.Comparing.Cost;

/// <summary>What to measure.</summary>
internal sealed record CostOptions
{
    /// <summary>Payments under way.</summary>
    public required int InFlight { get; init; }

    /// <summary>Rounds that count; one more is run before and dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>How long each measurement takes.</summary>
    public required TimeSpan During { get; init; }
}
