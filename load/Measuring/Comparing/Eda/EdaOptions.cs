namespace Billing.Measuring.Comparing.Eda;

/// <summary>What to compare of the two architectures.</summary>
internal sealed record EdaOptions
{
    /// <summary>How the direct side's proxies call its backends.</summary>
    public required string Protocol { get; init; }

    /// <summary>Numbers of requests that are ramped up within a second.</summary>
    public required IReadOnlyList<int> Ramps { get; init; }

    /// <summary>Rounds of the ramps that count; one more is run before and dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>Requests per second of the long run, and while a backend is killed.</summary>
    public required int Rate { get; init; }

    /// <summary>How long the long run takes.</summary>
    public required TimeSpan During { get; init; }

    /// <summary>Requests per second of the overload.</summary>
    public required int OverloadRate { get; init; }

    /// <summary>Proxies, and backends, of each side.</summary>
    public required int Size { get; init; }
}
