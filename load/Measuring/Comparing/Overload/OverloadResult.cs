using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Overload;

/// <summary>The behaviour under overload as JSON; the names are part of the interface.</summary>
internal sealed record OverloadResult : IResults
{
    /// <summary>The format of the result file.</summary>
    public static ResultFormat<OverloadResult> Format { get; } = new("compare-overload", OverloadJson.Default.OverloadResult, OverloadPage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }

    /// <summary>Payments per second that the simulated card network allows.</summary>
    public required double CapacityPerS { get; init; }

    /// <summary>The proxies' <c>Billing:Proxy:LatencyTarget</c>.</summary>
    public required double TargetMs { get; init; }

    /// <summary>The phases in their order.</summary>
    public required IReadOnlyList<OverloadPhase> Phases { get; init; }

    /// <summary>Memory of the proxies and backends over all phases.</summary>
    public IReadOnlyList<MemoryFigures> Memory { get; init; } = [];

    /// <summary>The audit after the last phase.</summary>
    public IReadOnlyList<AuditCounts> Audits { get; init; } = [];

    long ILatencies.Failed => Phases.Sum(p => p.Refused + p.OtherErrors);

    bool IResults.HasFigures => Phases.Count > 0;

    bool IResults.IsGood => StoreAudit.AreClean(Audits) && Phases.All(p => p.OtherErrors == 0);
}

/// <summary>One phase.</summary>
/// <param name="Name">Its name.</param>
/// <param name="OfferedPerS">Payments sent per second, whatever their outcome.</param>
/// <param name="Answered">Number of answered payments.</param>
/// <param name="AnsweredPerS">Answered payments per second.</param>
/// <param name="Refused">Number of payments rejected with RESOURCE_EXHAUSTED.</param>
/// <param name="OtherErrors">Number of payments that failed in any other way.</param>
/// <param name="Latency">Latency of the answered payments.</param>
/// <param name="Refusals">Latency of the rejections.</param>
internal sealed record OverloadPhase(
    string Name, double OfferedPerS, long Answered, double AnsweredPerS, long Refused, long OtherErrors, LatencyFigures Latency,
    LatencyFigures Refusals);

/// <summary>Resident memory of one program.</summary>
/// <param name="Program">Its name.</param>
/// <param name="BeforeMb">Before the overload, in MB (10^6 bytes).</param>
/// <param name="MostMb">The maximum during the overload, sampled every second.</param>
/// <param name="AfterMb">After the overload.</param>
internal sealed record MemoryFigures(string Program, double BeforeMb, double MostMb, double AfterMb);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(OverloadResult))]
internal sealed partial class OverloadJson : JsonSerializerContext;
