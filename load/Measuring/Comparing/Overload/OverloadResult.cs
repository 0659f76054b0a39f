using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Overload;

/// <summary>What an overload does, as JSON; the names are part of the interface.</summary>
internal sealed record OverloadResult : IResults
{
    /// <summary>How it is kept.</summary>
    public static ResultFormat<OverloadResult> Format { get; } = new("compare-overload", OverloadJson.Default.OverloadResult, OverloadPage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }

    /// <summary>Payments per second that the simulated card network allows.</summary>
    public required double CapacityPerS { get; init; }

    /// <summary>The proxies' <c>Billing:Proxy:LatencyTarget</c>.</summary>
    public required double TargetMs { get; init; }

    /// <summary>What was offered, in order.</summary>
    public required IReadOnlyList<OverloadPhase> Phases { get; init; }

    /// <summary>Memory of the proxies and backends through it all.</summary>
    public IReadOnlyList<MemoryFigures> Memory { get; init; } = [];

    /// <summary>The audit after it.</summary>
    public IReadOnlyList<AuditCounts> Audits { get; init; } = [];

    long ILatencies.Failed => Phases.Sum(p => p.Refused + p.OtherErrors);

    bool IResults.HasFigures => Phases.Count > 0;

    bool IResults.IsGood => Books.AreClean(Audits) && Phases.All(p => p.OtherErrors == 0);
}

/// <summary>One part of it.</summary>
/// <param name="Name">Which.</param>
/// <param name="OfferedPerS">Payments sent a second, whatever became of them.</param>
/// <param name="Answered">Payments answered.</param>
/// <param name="AnsweredPerS">Of these, in a second.</param>
/// <param name="Refused">Payments refused with RESOURCE_EXHAUSTED.</param>
/// <param name="OtherErrors">Payments that failed in any other way.</param>
/// <param name="Latency">How long the answered ones took.</param>
/// <param name="Refusals">How long it took to refuse the others.</param>
internal sealed record OverloadPhase(
    string Name, double OfferedPerS, long Answered, double AnsweredPerS, long Refused, long OtherErrors, LatencyFigures Latency,
    LatencyFigures Refusals);

/// <summary>Resident memory of one program.</summary>
/// <param name="Program">Which.</param>
/// <param name="BeforeMb">Before the overload, in MB (10^6 bytes).</param>
/// <param name="MostMb">The most during it, looked at every second.</param>
/// <param name="AfterMb">After it.</param>
internal sealed record MemoryFigures(string Program, double BeforeMb, double MostMb, double AfterMb);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(OverloadResult))]
internal sealed partial class OverloadJson : JsonSerializerContext;
