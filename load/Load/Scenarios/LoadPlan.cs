using Billing.Load.Measuring;

namespace Billing.Load.Scenarios;

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
    public IReadOnlyList<Threshold> Thresholds { get; init; } = [];
}

/// <summary>How calls come.</summary>
internal abstract record LoadShape
{
    private LoadShape()
    {
    }

    /// <summary>So many calls a second, whatever becomes of them.</summary>
    public sealed record Open(int Rate, TimeSpan During) : LoadShape
    {
        /// <inheritdoc/>
        public override string ToString() => $"{Rate} calls/s for {During}";
    }

    /// <summary>So many callers, each of which waits for its answer before it calls again.</summary>
    public sealed record Closed(int Copies, TimeSpan During) : LoadShape
    {
        /// <inheritdoc/>
        public override string ToString() => $"{Copies} callers for {During}";
    }

    /// <summary>A rate that grows, or shrinks, evenly; it is held for a second before.</summary>
    public sealed record Ramp(int From, int To, TimeSpan During) : LoadShape
    {
        /// <inheritdoc/>
        public override string ToString() => $"{From} to {To} calls/s within {During}";
    }

    /// <summary>So many calls at the same time, once.</summary>
    public sealed record Burst(int Calls) : LoadShape
    {
        /// <inheritdoc/>
        public override string ToString() => $"{Calls} calls at once";
    }
}
