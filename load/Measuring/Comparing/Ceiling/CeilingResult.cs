using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Ceiling;

/// <summary>The comparison of the whole path with a plain echo as JSON; the names are part of the interface.</summary>
internal sealed record CeilingResult : IResults
{
    /// <summary>The format of the result file.</summary>
    public static ResultFormat<CeilingResult> Format { get; } = new("compare-ceiling", CeilingJson.Default.CeilingResult, CeilingPage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }
    public required int Proxies { get; init; }
    public required int Rounds { get; init; }
    public required IReadOnlyList<CeilingCase> Cases { get; init; }

    /// <summary>The audit of each stack that was measured.</summary>
    public IReadOnlyList<AuditCounts> Audits { get; init; } = [];

    long ILatencies.Failed => Cases.Sum(c => c.Full.Rounds.Concat(c.Echo.Rounds).Sum(r => r.Failed));

    bool IResults.HasFigures => Cases.Count > 0;

    bool IResults.IsGood => StoreAudit.AreClean(Audits) && Cases.Count > 0 && Cases.All(c => c.Full.Rounds.Concat(c.Echo.Rounds).All(r => r.Failed == 0));
}

/// <summary>The figures of both sides under one load.</summary>
/// <param name="Shape">The load, e.g. <c>200 in flight</c>.</param>
/// <param name="Full">The whole path: proxy, Kafka, backend, PostgreSQL and back.</param>
/// <param name="Echo">The echo.</param>
internal sealed record CeilingCase(string Shape, CeilingSide Full, CeilingSide Echo)
{
    /// <summary>Throughput of the whole path as a share of the echo's, 0 to 1.</summary>
    public double Share => Echo.PerSecond.Median == 0 ? 0 : Full.PerSecond.Median / Echo.PerSecond.Median;
}

/// <summary>One side's rounds.</summary>
internal sealed record CeilingSide(IReadOnlyList<CeilingRound> Rounds)
{
    public Spread PerSecond => Spread.Of(Rounds.Select(r => r.PerSecond));

    public Spread P50Ms => Spread.Of(Rounds.Select(r => r.P50Ms));

    public Spread P99Ms => Spread.Of(Rounds.Select(r => r.P99Ms));

    public Spread DurationS => Spread.Of(Rounds.Select(r => r.DurationS));
}

/// <summary>One measurement. The latencies of a burst count from its start, those of a closed loop from each call.</summary>
internal sealed record CeilingRound(double DurationS, double PerSecond, double P50Ms, double P99Ms, long Failed);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(CeilingResult))]
internal sealed partial class CeilingJson : JsonSerializerContext;
