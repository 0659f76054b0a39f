using Billing.Measuring.Driving;

namespace Billing.Measuring.Sweeping;

/// <summary>What a sweep measures.</summary>
internal sealed record SweepOptions
{
    /// <summary>Whether the best place is searched for; otherwise just one is measured.</summary>
    public required bool IsDynamic { get; init; }

    /// <summary>Connections: of each worker, or at most.</summary>
    public required int Connections { get; init; }

    /// <summary>Requests in flight on each connection, or at most.</summary>
    public required int InFlight { get; init; }

    /// <summary>Worker processes.</summary>
    public required int Workers { get; init; }

    /// <summary>Requests of each worker after which a measurement ends early; 0 for no such end.</summary>
    public required int Amount { get; init; }

    /// <summary>How long each measurement takes.</summary>
    public required TimeSpan During { get; init; }

    /// <summary>How long each is warmed up for.</summary>
    public required TimeSpan WarmUp { get; init; }

    /// <summary>How many of a hundred requests are balance checks; streams carry payments only.</summary>
    public required int BalancePercent { get; init; }

    /// <summary>What the 99th percentile may be for the second of the two bests, in milliseconds.</summary>
    public required int LatencyBoundMs { get; init; }

    /// <summary>The protocols, in turn.</summary>
    public required IReadOnlyList<DriveProtocol> Protocols { get; init; }

    /// <summary>What to run it on, and where the results go.</summary>
    public required MeasuredSystem Subject { get; init; }
}
