namespace Billing.Measuring.Comparing.Scale;

/// <summary>The options of the measurement with growing numbers of backends.</summary>
internal sealed record ScaleOptions
{
    /// <summary>Numbers of payment backends, ascending.</summary>
    public required IReadOnlyList<int> Backends { get; init; }

    /// <summary>Numbers of balance replicas, ascending.</summary>
    public required IReadOnlyList<int> Replicas { get; init; }

    /// <summary>Number of measured rounds; one more runs before them and is dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>Duration of each measurement.</summary>
    public required TimeSpan During { get; init; }

    /// <summary>The simulated work.</summary>
    public required ScaleWork Work { get; init; }
}
