using Billing.Driver;

namespace Billing.Measuring.Experiments.Sweeps;

/// <summary>The options of a sweep.</summary>
internal sealed record SweepOptions
{
    /// <summary>Whether the best configuration is searched for; otherwise a single one is measured.</summary>
    public required bool IsDynamic { get; init; }

    /// <summary>Number of connections of each worker; the maximum if dynamic.</summary>
    public required int Connections { get; init; }

    /// <summary>Number of requests in flight on each connection; the maximum if dynamic.</summary>
    public required int InFlight { get; init; }

    /// <summary>Number of worker processes.</summary>
    public required int Workers { get; init; }

    /// <summary>Number of requests of each worker after which a measurement ends early; 0 for no limit.</summary>
    public required int Amount { get; init; }

    /// <summary>Duration of each measurement.</summary>
    public required TimeSpan During { get; init; }

    /// <summary>Duration of the warm-up before each measurement.</summary>
    public required TimeSpan WarmUp { get; init; }

    /// <summary>Percentage of balance checks among the requests; streams carry payments only.</summary>
    public required int BalancePercent { get; init; }

    /// <summary>The latency bound in milliseconds: the highest 99th percentile for the best configuration
    /// within the bound.</summary>
    public required int LatencyBoundMs { get; init; }

    /// <summary>The protocols, in the order of measurement.</summary>
    public required IReadOnlyList<LoadProtocol> Protocols { get; init; }

    /// <summary>The system to measure, and the folder for the results.</summary>
    public required MeasuredSystem Subject { get; init; }
}
