using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Chaos;
using Billing.Chaos.Faults;
using Billing.Reporting;

namespace Billing.Measuring.Soaks;

/// <summary>The results of a soak test, as JSON; the names are part of the interface. Times are in seconds.</summary>
internal sealed record ChaosResult : IResults
{
    public static ResultFormat<ChaosResult> Format { get; } = new("chaos", ChaosJson.Default.ChaosResult, ChaosPage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }
    public required int Seed { get; init; }
    public required double DurationS { get; init; }
    public required int Brokers { get; init; }
    public required int Proxies { get; init; }
    public required BackendCounts Backends { get; init; }
    public required bool Jitter { get; init; }
    public required int Rate { get; init; }
    public required IReadOnlyList<FaultReport> Faults { get; init; }
    public required IReadOnlyList<KindOfFaultReport> Kinds { get; init; }
    public required TrafficResult Traffic { get; init; }
    public required IReadOnlyList<SlowCallReport> Slowest { get; init; }
    public required int Direct { get; init; }
    public required IReadOnlyList<string> Forgotten { get; init; }
    public required IReadOnlyList<string> Unpublished { get; init; }
    public required int EndedThemselves { get; init; }
    public required int BadRecords { get; init; }
    public required int PutAside { get; init; }

    /// <summary>The errors found, except those found by the audit.</summary>
    public required IReadOnlyList<string> Wrong { get; init; }
    public required AuditCounts Audit { get; init; }
    public required bool Clean { get; init; }

    // Failed attempts are expected in a soak test: callers retry, and waits are counted until the answer.
    long ILatencies.Failed => Traffic.Unanswered;

    bool IResults.HasFigures => Traffic.Payments > 0;

    bool IResults.IsGood => Clean;

    public static ChaosResult Of(ChaosOptions options, RunInfo run, SoakResult result)
    {
        var faults = result.Faults.Select((fault, i) =>
            FaultReport.Of(fault, result.Offsets[i], result.LongestCalls[i])).ToList();
        return new ChaosResult
        {
            Run = run,
            Seed = options.Seed,
            DurationS = options.Duration.TotalSeconds,
            Brokers = options.Stack.Brokers,
            Proxies = options.Stack.Proxies,
            Backends = new BackendCounts(options.Stack.PaymentBackends, options.Stack.BalanceBackends),
            Jitter = options.Stack.Jitter,
            Rate = options.Rate,
            Faults = faults,
            Kinds =
            [
                .. result.Faults.Zip(faults).GroupBy(f => f.First.Fault.Kind).OrderBy(g => g.Key)
                    .Select(KindOfFaultReport.Of),
            ],
            Traffic = result.Traffic,
            Slowest =
            [
                .. result.Slowest.Select(c => new SlowCallReport(c.Began.TotalSeconds, c.Took.TotalSeconds, c.What)),
            ],
            Direct = result.Direct,
            Forgotten = result.Forgotten,
            Unpublished = result.Unpublished,
            EndedThemselves = result.EndedThemselves,
            BadRecords = result.BadRecords,
            PutAside = result.DeadLetters,
            Wrong = result.Wrong,
            Audit = AuditCounts.Of(result.Audit),
            Clean = result.IsClean,
        };
    }
}

internal sealed record FaultReport(string What, double PlannedS, double StruckS, double LastsS, double LongestCallS)
{
    public static FaultReport Of(InjectedFault fault, TimeSpan struck, TimeSpan longest) => new(
        fault.Fault.What, fault.Fault.At.TotalSeconds, struck.TotalSeconds,
        fault.Fault.Lasts.TotalSeconds, longest.TotalSeconds);
}

internal sealed record SlowCallReport(double BeganS, double TookS, string What);

internal sealed record KindOfFaultReport(string Kind, int Times, double LongestCallS, int? TargetS)
{
    public bool Missed => TargetS is { } target && LongestCallS >= target;

    public static KindOfFaultReport Of(IGrouping<FaultKind, (InjectedFault First, FaultReport Second)> faults)
    {
        var profile = FaultProfile.Of(faults.Key);
        return new KindOfFaultReport(
            profile.Name, faults.Count(), faults.Max(f => f.Second.LongestCallS), profile.TargetSeconds);
    }
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(ChaosResult))]
internal sealed partial class ChaosJson : JsonSerializerContext;
