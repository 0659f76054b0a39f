using System.Text.Json.Serialization;

namespace Billing.Scenarios;

// The files that `./billing load` and the scenarios' program exchange. This file is compiled into both, so that the command does
// not depend on NBomber.

/// <summary>The scenario to run against running proxies.</summary>
internal sealed record ScenarioSpec
{
    /// <summary>Name of the scenario and of its reports.</summary>
    public required string Scenario { get; init; }

    /// <summary>The load over time.</summary>
    public required LoadShape Shape { get; init; }

    /// <summary>Percentage of payments among the calls; the others check a balance.</summary>
    public required int PaymentPercent { get; init; }

    /// <summary>Number of clients, each with its own connections, that share the calls.</summary>
    public required int Clients { get; init; }

    /// <summary>Duration of the load before the measurement; zero for none.</summary>
    public required TimeSpan WarmUp { get; init; }

    /// <summary>Number of accounts of each payment type that the calls use.</summary>
    public required int Accounts { get; init; }

    /// <summary>Addresses of the proxies.</summary>
    public required IReadOnlyList<string> Proxies { get; init; }

    /// <summary>File for the journal of the payments and their answers; null for none.</summary>
    public string? Journal { get; init; }

    /// <summary>Folder for NBomber's reports; its previous content is deleted.</summary>
    public required string ReportFolder { get; init; }
}

/// <summary>The load over time.</summary>
[JsonPolymorphic(TypeDiscriminatorPropertyName = "shape")]
[JsonDerivedType(typeof(Open), "open")]
[JsonDerivedType(typeof(Closed), "closed")]
[JsonDerivedType(typeof(Ramp), "ramp")]
[JsonDerivedType(typeof(Burst), "burst")]
internal abstract record LoadShape
{
    private LoadShape()
    {
    }

    /// <summary>Planned duration of the sending; zero if all calls are sent at once.</summary>
    [JsonIgnore]
    public abstract TimeSpan Planned { get; }

    /// <summary>A constant rate of calls per second, independent of the answers.</summary>
    public sealed record Open(int Rate, TimeSpan During) : LoadShape
    {
        /// <inheritdoc/>
        public override TimeSpan Planned => During;

        /// <inheritdoc/>
        public override string ToString() => $"{Rate} calls/s for {During}";
    }

    /// <summary>A constant number of callers, each of which waits for its answer before its next call.</summary>
    public sealed record Closed(int Copies, TimeSpan During) : LoadShape
    {
        /// <inheritdoc/>
        public override TimeSpan Planned => During;

        /// <inheritdoc/>
        public override string ToString() => $"{Copies} callers for {During}";
    }

    /// <summary>A rate that increases or decreases linearly, after one second at the first rate.</summary>
    public sealed record Ramp(int From, int To, TimeSpan During) : LoadShape
    {
        /// <inheritdoc/>
        public override TimeSpan Planned => During + TimeSpan.FromSeconds(1);

        /// <inheritdoc/>
        public override string ToString() => $"{From} to {To} calls/s within {During}";
    }

    /// <summary>A number of calls at the same time, once.</summary>
    public sealed record Burst(int Calls) : LoadShape
    {
        /// <inheritdoc/>
        public override TimeSpan Planned => TimeSpan.Zero;

        /// <inheritdoc/>
        public override string ToString() => $"{Calls} calls at once";
    }
}

/// <summary>The result of a scenario.</summary>
internal sealed record ScenarioResult
{
    /// <summary>Seconds from the first call to the last answer, and at least the planned duration unless the run was interrupted.
    /// </summary>
    public required double DurationS { get; init; }

    /// <summary>Figures of all calls.</summary>
    public required CallFigures Calls { get; init; }

    /// <summary>Figures of each kind of call, if there are several.</summary>
    public required IReadOnlyDictionary<string, CallFigures> Steps { get; init; }

    /// <summary>Number of calls by status.</summary>
    public required IReadOnlyDictionary<string, int> Statuses { get; init; }

    /// <summary>Number of retries, including the warm-up.</summary>
    public required long Retried { get; init; }
}

/// <summary>Figures of calls; the latencies are those of answered calls, in milliseconds.</summary>
internal sealed record CallFigures(
    int Count, int Ok, int Failed, double OkPerS, double MinMs, double MeanMs,
    [property: JsonPropertyName("p50_ms")] double P50Ms, [property: JsonPropertyName("p75_ms")] double P75Ms,
    [property: JsonPropertyName("p95_ms")] double P95Ms, [property: JsonPropertyName("p99_ms")] double P99Ms, double MaxMs);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower)]
[JsonSerializable(typeof(ScenarioSpec))]
[JsonSerializable(typeof(ScenarioResult))]
internal sealed partial class ScenarioJson : JsonSerializerContext;
