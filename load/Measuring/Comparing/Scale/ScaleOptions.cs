namespace Billing.Measuring.Comparing.Scale;

/// <summary>What to measure of growing numbers of backends.</summary>
internal sealed record ScaleOptions
{
    /// <summary>Numbers of payment backends, rising.</summary>
    public required IReadOnlyList<int> Backends { get; init; }

    /// <summary>Numbers of balance replicas, rising.</summary>
    public required IReadOnlyList<int> Replicas { get; init; }

    /// <summary>Rounds that count; one more is run before and dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>How long each measurement takes.</summary>
    public required TimeSpan During { get; init; }

    /// <summary>The simulated work.</summary>
    public required ScaleWork Work { get; init; }
}
