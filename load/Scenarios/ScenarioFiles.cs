using System.Text.Json.Serialization;

namespace Billing.Scenarios;

// What goes between `./billing load` and the program of the scenarios. Both are built from this one file, so that the command
// need not know NBomber.

/// <summary>What the program does: a scenario, on proxies that run.</summary>
internal sealed record ScenarioSpec
{
    /// <summary>The scenario's name, which its reports have too.</summary>
    public required string Scenario { get; init; }

    /// <summary>How calls come.</summary>
    public required LoadShape Shape { get; init; }

    /// <summary>Of 100 calls, how many are payments; the others check a balance.</summary>
    public required int PaymentPercent { get; init; }

    /// <summary>Clients with connections of their own that share the calls.</summary>
    public required int Clients { get; init; }

    /// <summary>Load before the measured one; none if zero.</summary>
    public required TimeSpan WarmUp { get; init; }

    /// <summary>Accounts that the calls go to, of each payment type.</summary>
    public required int Accounts { get; init; }

    /// <summary>Addresses of the proxies.</summary>
    public required IReadOnlyList<string> Proxies { get; init; }

    /// <summary>File for what was acknowledged; none if null.</summary>
    public string? Journal { get; init; }

    /// <summary>Folder for NBomber's reports; what is in it is deleted.</summary>
    public required string ReportFolder { get; init; }
}

/// <summary>How calls come.</summary>
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

    /// <summary>How long calls go out; zero where all go out at once.</summary>
    [JsonIgnore]
    public abstract TimeSpan Planned { get; }

    /// <summary>So many calls per second, whatever becomes of them.</summary>
    public sealed record Open(int Rate, TimeSpan During) : LoadShape
    {
        /// <inheritdoc/>
        public override TimeSpan Planned => During;

        /// <inheritdoc/>
        public override string ToString() => $"{Rate} calls/s for {During}";
    }

    /// <summary>So many callers, each of which waits for its answer before it calls again.</summary>
    public sealed record Closed(int Copies, TimeSpan During) : LoadShape
    {
        /// <inheritdoc/>
        public override TimeSpan Planned => During;

        /// <inheritdoc/>
        public override string ToString() => $"{Copies} callers for {During}";
    }

    /// <summary>A rate that grows, or shrinks, evenly; it is held for a second before.</summary>
    public sealed record Ramp(int From, int To, TimeSpan During) : LoadShape
    {
        /// <inheritdoc/>
        public override TimeSpan Planned => During + TimeSpan.FromSeconds(1);

        /// <inheritdoc/>
        public override string ToString() => $"{From} to {To} calls/s within {During}";
    }

    /// <summary>So many calls at the same time, once.</summary>
    public sealed record Burst(int Calls) : LoadShape
    {
        /// <inheritdoc/>
        public override TimeSpan Planned => TimeSpan.Zero;

        /// <inheritdoc/>
        public override string ToString() => $"{Calls} calls at once";
    }
}

/// <summary>What came of it.</summary>
internal sealed record ScenarioResult
{
    /// <summary>Seconds from the first call to the last answer, and no fewer than the scenario was to last.</summary>
    public required double DurationS { get; init; }

    /// <summary>All calls.</summary>
    public required CallFigures Calls { get; init; }

    /// <summary>The calls of each kind, where there are several.</summary>
    public required IReadOnlyDictionary<string, CallFigures> Steps { get; init; }

    /// <summary>How many calls ended in which way.</summary>
    public required IReadOnlyDictionary<string, int> Statuses { get; init; }

    /// <summary>Calls that were sent again, warm-up included.</summary>
    public required long Retried { get; init; }
}

/// <summary>Latencies are those of answered calls, in milliseconds.</summary>
internal sealed record CallFigures(
    int Count, int Ok, int Failed, double OkPerS, double MinMs, double MeanMs,
    [property: JsonPropertyName("p50_ms")] double P50Ms, [property: JsonPropertyName("p75_ms")] double P75Ms,
    [property: JsonPropertyName("p95_ms")] double P95Ms, [property: JsonPropertyName("p99_ms")] double P99Ms, double MaxMs);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower)]
[JsonSerializable(typeof(ScenarioSpec))]
[JsonSerializable(typeof(ScenarioResult))]
internal sealed partial class ScenarioJson : JsonSerializerContext;
