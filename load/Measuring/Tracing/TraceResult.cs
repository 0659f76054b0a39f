using System.Text.Json.Serialization;
using Billing.Reporting;

namespace Billing.Measuring.Tracing;

/// <summary>The results of a trace, as JSON; the names are part of the interface.</summary>
internal sealed record TraceResult : IResults
{
    /// <summary>The format of the results without the payments.</summary>
    public static ResultFormat<TraceResult> Format { get; } = FormatOf(TracePage.Of);

    public string Kind { get; init; } = Format.Kind;

    public required RunInfo Run { get; init; }

    /// <summary><c>kafka</c> or <c>embedded</c>; empty if the proxies were already running.</summary>
    public required string Transport { get; init; }

    public required int Rate { get; init; }

    public required int Connections { get; init; }

    public required TraceCounts Requests { get; init; }

    /// <summary>The legs in order, then the milestones, then the leg from the first step to the last. In an open loop
    /// they begin when a payment was due, <c>planned</c>, and the first leg is its wait to be sent.</summary>
    public required IReadOnlyList<LegSummary> Steps { get; init; }

    /// <summary>Whether the event store could be queried; null if it is not known.</summary>
    public bool? IsJoined { get; init; }

    long ILatencies.Failed => Requests.Failed;

    bool IResults.HasFigures => Requests.Sent > 0;

    bool IResults.IsGood =>
        Requests.Failed == 0 && (IsJoined is null || (IsJoined.Value && Requests.InStore == Requests.Sent));

    /// <summary>Returns the format with another page.</summary>
    public static ResultFormat<TraceResult> FormatOf(Func<TraceResult, Report> page) =>
        new("trace", TraceJson.Default.TraceResult, page);

    public static TraceResult Of(
        RunInfo run, TraceOptions options, string transport,
        IReadOnlyList<TracedPayment> payments, bool? isJoined) => new()
        {
            Run = run,
            Transport = transport,
            Rate = options.Rate,
            Connections = options.Connections,
            Requests = TraceCounts.Of(payments),
            Steps = [.. LegSummary.Of(payments)],
            IsJoined = isJoined,
        };
}

/// <summary>The numbers of payments by outcome.</summary>
/// <param name="Sent">Payments with an outcome.</param>
/// <param name="Accepted">Accepted payments.</param>
/// <param name="Declined">Declined payments.</param>
/// <param name="Failed">Payments without an answer.</param>
/// <param name="InStore">Payments whose event was found in the event store; 0 if it was not queried.</param>
/// <param name="PerS">Answers per second, from the moment at which the first payment was due
/// to the last answer.</param>
internal sealed record TraceCounts(int Sent, int Accepted, int Declined, int Failed, int InStore, double PerS)
{
    public static TraceCounts Of(IReadOnlyList<TracedPayment> payments)
    {
        var answered = payments.Where(p => p.IsAnswered).ToList();
        var first = Leg.StartOf(payments);
        var start = payments.Where(p => p.Has(first)).Select(p => p[first]).DefaultIfEmpty(0).Min();
        var seconds = answered.Count == 0 ? 0 : (answered.Max(p => p[Moment.Returned]) - start) / 1e6;
        return new TraceCounts(
            payments.Count, answered.Count(p => p.Outcome == nameof(V1.PaymentOutcome.Accepted)),
            answered.Count(p => p.Outcome == nameof(V1.PaymentOutcome.Declined)), payments.Count - answered.Count,
            payments.Count(p => p.Has(Moment.Recorded)), seconds > 0 ? answered.Count / seconds : 0);
    }
}

/// <summary>The durations of a leg, in milliseconds.</summary>
internal sealed record LegSummary
{
    public required string Name { get; init; }

    public required string From { get; init; }

    public required string To { get; init; }

    public required int Count { get; init; }

    public required double MeanMs { get; init; }

    [JsonPropertyName("p50_ms")]
    public required double P50Ms { get; init; }

    [JsonPropertyName("p90_ms")]
    public required double P90Ms { get; init; }

    [JsonPropertyName("p99_ms")]
    public required double P99Ms { get; init; }

    [JsonPropertyName("p999_ms")]
    public required double P999Ms { get; init; }

    public required double MaxMs { get; init; }

    /// <summary>Summarises the legs of a trace, its milestones and the leg from the first step to the last.</summary>
    public static IEnumerable<LegSummary> Of(IReadOnlyList<TracedPayment> payments) =>
        Leg.Of(payments).Concat(Leg.Milestones(payments)).Append(Leg.Whole(payments))
            .Select(leg => Of(LegTimes.Of(leg, payments))).Where(leg => leg.Count > 0);

    private static LegSummary Of(LegTimes times) => new()
    {
        Name = times.Leg.Name,
        From = times.Leg.From.ToString().ToLowerInvariant(),
        To = times.Leg.To.ToString().ToLowerInvariant(),
        Count = times.Sorted.Count,
        MeanMs = times.Mean,
        P50Ms = times.Percentile(0.5),
        P90Ms = times.Percentile(0.9),
        P99Ms = times.Percentile(0.99),
        P999Ms = times.Percentile(0.999),
        MaxMs = times.Max,
    };
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(TraceResult))]
internal sealed partial class TraceJson : JsonSerializerContext;
