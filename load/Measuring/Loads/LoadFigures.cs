using Billing.Driver;
using Billing.Driver.Lives;
using Billing.Driver.Metering;

namespace Billing.Measuring.Loads;

/// <summary>The combined results of the drivers of one load.</summary>
/// <param name="DurationS">Seconds from the start of the first driver to the last answer.</param>
/// <param name="Phases">The phases of an open load; one of any other.</param>
/// <param name="CpuS">Seconds of processor time by program; that of the drivers under <see cref="Client"/>.</param>
/// <param name="Retried">Number of retries by the SDK.</param>
internal sealed record LoadFigures(
    double DurationS, IReadOnlyList<PhaseFigures> Phases, IReadOnlyDictionary<string, double> CpuS, long Retried)
{
    /// <summary>The name of the drivers among the programs.</summary>
    public const string Client = "client";

    /// <summary>All requests of all phases.</summary>
    public required KindFigures All { get; init; }

    /// <summary>Number of answered payments, those of the warm-up included: as many as in the journals.</summary>
    public required long Acknowledged { get; init; }

    public double PerSecond => DurationS > 0 ? All.Answered / DurationS : 0;

    /// <summary>Combines the results of drivers.</summary>
    /// <param name="results">The results, at least one, of the same load.</param>
    /// <param name="cpuS">Seconds of processor time by program.</param>
    public static LoadFigures Of(IReadOnlyList<LoadResult> results, IReadOnlyDictionary<string, double> cpuS)
    {
        var start = results.Min(r => r.StartedUnixUs);
        var kinds = results.Select(r => (Late: r.StartedUnixUs - start, r.Phases)).ToList();
        return new LoadFigures(
            (results.Max(r => r.EndedUnixUs) - start) / 1e6,
            [.. results[0].Phases.Select((phase, i) => new PhaseFigures(
                phase.Name,
                KindFigures.Of(kinds.Select(k => (k.Late, k.Phases[i].Payments))),
                KindFigures.Of(kinds.Select(k => (k.Late, k.Phases[i].Balances))),
                FollowUps.All.Where(kind => kinds.Any(k => k.Phases[i].FollowUps.ContainsKey(kind))).ToDictionary(
                    kind => kind,
                    kind => KindFigures.Of(kinds.Where(k => k.Phases[i].FollowUps.ContainsKey(kind))
                        .Select(k => (k.Late, k.Phases[i].FollowUps[kind])))),
                KindFigures.Of(kinds.SelectMany(k => AllOf(k.Late, k.Phases[i])))))],
            cpuS,
            results.Sum(r => r.Retried))
        {
            Acknowledged = results.Sum(r => r.PaymentsAnswered),
            All = KindFigures.Of(kinds.SelectMany(k => k.Phases.SelectMany(phase => AllOf(k.Late, phase)))),
        };
    }

    private static IEnumerable<(long LateUs, RequestFigures Figures)> AllOf(long late, PhaseResult phase) =>
        [(late, phase.Payments), (late, phase.Balances), .. phase.FollowUps.Values.Select(figures => (late, figures))];
}

/// <summary>The figures of one phase of a load.</summary>
internal sealed record PhaseFigures(
    string Name, KindFigures Payments, KindFigures Balances,
    IReadOnlyDictionary<string, KindFigures> FollowUps, KindFigures All);

/// <summary>The figures of one kind of request, or of all.</summary>
/// <param name="Ok">Number of answers that decline nothing.</param>
/// <param name="Declined">Number of declined payments and the like.</param>
/// <param name="Errors">Number of failed requests by status.</param>
/// <param name="Latency">Latencies of the answers.</param>
/// <param name="SinceStart">Latencies of the answers to a burst since the start of the first driver;
/// zero for other loads.</param>
internal sealed record KindFigures(
    long Ok, long Declined, IReadOnlyDictionary<string, long> Errors, LatencyFigures Latency, LatencyFigures SinceStart)
{
    /// <summary>Number of answered requests.</summary>
    public long Answered => Ok + Declined;

    /// <summary>Number of failed requests.</summary>
    public long Failed => Errors.Values.Sum();

    /// <summary>Number of requests.</summary>
    public long Sent => Answered + Failed;

    /// <summary>Combines the figures of drivers, each of which began some microseconds after the first.</summary>
    public static KindFigures Of(IEnumerable<(long LateUs, RequestFigures Figures)> drivers)
    {
        var all = drivers.ToList();
        return new KindFigures(
            all.Sum(d => d.Figures.Ok), all.Sum(d => d.Figures.Declined),
            new SortedDictionary<string, long>(
                all.SelectMany(d => d.Figures.Errors).GroupBy(e => e.Key, e => e.Value)
                    .ToDictionary(e => e.Key, e => e.Sum()),
                StringComparer.Ordinal),
            LatencyHistogram.FiguresOf(all.Select(d => d.Figures.Latencies)),
            LatencyHistogram.FiguresOf(all.Select(
                d => d.Figures.SinceStart.Select(c => c with { Microseconds = c.Microseconds + d.LateUs }).ToList())));
    }
}
