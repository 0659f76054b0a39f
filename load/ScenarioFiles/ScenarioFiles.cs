using System.Text.Json.Serialization;

namespace Billing.ScenarioFiles;

// The files that `./billing load` and the program of the scenarios exchange: apart from both, so that the command
// does not depend on NBomber.

/// <summary>The scenario that the program runs against running proxies.</summary>
public sealed record ScenarioSpec
{
    /// <summary>The name of the scenario and of its reports.</summary>
    public required string Scenario { get; init; }

    /// <summary>The shape of the load.</summary>
    public required LoadShape Shape { get; init; }

    /// <summary>Percentage of calls that are payments; the others are balance checks.</summary>
    public required int PaymentPercent { get; init; }

    /// <summary>What a call does with its payment.</summary>
    public Following Following { get; init; }

    /// <summary>Number of clients, each with connections of its own, that the calls are distributed over.</summary>
    public required int Clients { get; init; }

    /// <summary>Duration of the warm-up; zero for none.</summary>
    public required TimeSpan WarmUp { get; init; }

    /// <summary>Number of accounts of each payment type that the calls are distributed over.</summary>
    public required int Accounts { get; init; }

    /// <summary>Addresses of the proxies.</summary>
    public required IReadOnlyList<string> Proxies { get; init; }

    /// <summary>The file for the journal; null for none.</summary>
    public string? Journal { get; init; }

    /// <summary>The folder for NBomber's reports; its contents are deleted first.</summary>
    public required string ReportFolder { get; init; }
}

/// <summary>What a call does with its payment.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<Following>))]
public enum Following
{
    /// <summary>Nothing more.</summary>
    None,

    /// <summary>It is given back.</summary>
    Refund,

    /// <summary>It is authorised first, and then captured.</summary>
    Capture,

    /// <summary>It is looked up.</summary>
    LookUp,
}

/// <summary>The shape of a load.</summary>
[JsonPolymorphic(TypeDiscriminatorPropertyName = "shape")]
[JsonDerivedType(typeof(Open), "open")]
[JsonDerivedType(typeof(Closed), "closed")]
[JsonDerivedType(typeof(Ramp), "ramp")]
[JsonDerivedType(typeof(Burst), "burst")]
public abstract record LoadShape
{
    private LoadShape()
    {
    }

    /// <summary>The planned duration of sending; zero if all calls are sent at once.</summary>
    [JsonIgnore]
    public abstract TimeSpan Planned { get; }

    /// <summary>A constant number of calls per second, independent of the answers.</summary>
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

    /// <summary>A number of calls sent once, at the same time.</summary>
    public sealed record Burst(int Calls) : LoadShape
    {
        /// <inheritdoc/>
        public override TimeSpan Planned => TimeSpan.Zero;

        /// <inheritdoc/>
        public override string ToString() => $"{Calls} calls at once";
    }
}

/// <summary>The results of a scenario.</summary>
public sealed record ScenarioResult
{
    /// <summary>Seconds from the first call to the last answer, but at least the planned duration of the
    /// scenario.</summary>
    public required double DurationS { get; init; }

    /// <summary>The figures of all calls.</summary>
    public required CallFigures Calls { get; init; }

    /// <summary>The figures of each kind of call, if there are several kinds.</summary>
    public required IReadOnlyDictionary<string, CallFigures> Steps { get; init; }

    /// <summary>Number of calls by status.</summary>
    public required IReadOnlyDictionary<string, int> Statuses { get; init; }

    /// <summary>Number of retries, warm-up included.</summary>
    public required long Retried { get; init; }
}

/// <summary>The figures of calls; latencies are those of answered calls, in milliseconds.</summary>
public sealed record CallFigures(
    int Count, int Ok, int Failed, double OkPerS, double MinMs, double MeanMs,
    [property: JsonPropertyName("p50_ms")] double P50Ms, [property: JsonPropertyName("p75_ms")] double P75Ms,
    [property: JsonPropertyName("p95_ms")] double P95Ms,
    [property: JsonPropertyName("p99_ms")] double P99Ms, double MaxMs);

/// <summary>Reads and writes the files.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower)]
[JsonSerializable(typeof(ScenarioSpec))]
[JsonSerializable(typeof(ScenarioResult))]
public sealed partial class ScenarioJson : JsonSerializerContext;
