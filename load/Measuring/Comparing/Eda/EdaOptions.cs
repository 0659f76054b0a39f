namespace Billing.Measuring.Comparing.Eda;

/// <summary>The options of the comparison of the two architectures.</summary>
internal sealed record EdaOptions
{
    /// <summary>The protocol between the direct side's proxies and backends.</summary>
    public required string Protocol { get; init; }

    /// <summary>Numbers of requests that are ramped up within a second.</summary>
    public required IReadOnlyList<int> Ramps { get; init; }

    /// <summary>Number of measured rounds of the ramps; one more runs before them and is dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>Requests per second of the long run, and of the run with a killed backend.</summary>
    public required int Rate { get; init; }

    /// <summary>Duration of the long run.</summary>
    public required TimeSpan During { get; init; }

    /// <summary>Requests per second of the overload.</summary>
    public required int OverloadRate { get; init; }

    /// <summary>Number of proxies, and of backends, of each side.</summary>
    public required int Size { get; init; }
}
