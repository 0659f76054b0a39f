using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Paper;

/// <summary>The results of the bursts as JSON; the names are part of the interface. Times are in seconds.</summary>
internal sealed record PaperResult : IResults
{
    /// <summary>The format of the result file.</summary>
    public static ResultFormat<PaperResult> Format { get; } = new("compare-paper", PaperJson.Default.PaperResult, PaperPage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }

    /// <summary>The source of the published figures.</summary>
    public Source Source { get; init; } = Sources.Prototype;

    public required string Transport { get; init; }
    public required int Clients { get; init; }
    public required int Proxies { get; init; }
    public required int Brokers { get; init; }
    public required int WarmUp { get; init; }
    public required int Rounds { get; init; }
    public required IReadOnlyList<PaperCase> Cases { get; init; }
    public required IReadOnlyList<AuditCounts> Audits { get; init; }

    long ILatencies.Failed => Cases.Sum(c => c.Rounds.Sum(r => (long)r.Errors));

    bool IResults.HasFigures => Cases.Any(c => c.Rounds.Count > 0);

    bool IResults.IsGood => StoreAudit.AreClean(Audits)
        && Cases.All(c => c.Rounds.All(r => r.Errors == 0));
}

/// <summary>One row of the tables: the figures of its rounds and the published ones.</summary>
internal sealed record PaperCase(int Backends, bool Jitter, int Requests, PaperRow? Printed, IReadOnlyList<PaperRound> Rounds)
{
    public Spread Shortest => Spread.Of(Rounds.Select(r => r.Shortest));

    public Spread Longest => Spread.Of(Rounds.Select(r => r.Longest));

    public Spread Average => Spread.Of(Rounds.Select(r => r.Average));

    public Spread Total => Spread.Of(Rounds.Select(r => r.Total));

    /// <summary>The longest time since the start of the burst; zero in older results, which lack it.</summary>
    public Spread LongestSinceStart => SinceStart(times => times.Longest);

    public Spread ShortestSinceStart => SinceStart(times => times.Shortest);

    public Spread AverageSinceStart => SinceStart(times => times.Average);

    /// <summary>The published longest time divided by our longest time since the start of the burst: above 1, ours is shorter.
    /// </summary>
    public double? LongestSinceStartRatio => Printed is null || LongestSinceStart.Median == 0 ? null : Printed.Longest / LongestSinceStart.Median;

    /// <summary>The published longest time divided by that of our calls: above 1, ours is shorter. The time of a call begins when
    /// the sending loop makes it.</summary>
    public double? LongestRatio => Printed is null || Longest.Median == 0 ? null : Printed.Longest / Longest.Median;

    private Spread SinceStart(Func<PaperRow, double> time) => Spread.Of(Rounds.Select(r => r.SinceStart).OfType<PaperRow>().Select(time));
}

/// <summary>One burst.</summary>
/// <param name="Shortest">The shortest time of a request, from its call on.</param>
/// <param name="Longest">The longest.</param>
/// <param name="Average">The mean.</param>
/// <param name="Total">Time from the first client's start to the last answer.</param>
/// <param name="Errors">Number of failed requests.</param>
/// <param name="SinceStart">The times of the same requests since the start of the burst; null in older results.</param>
internal sealed record PaperRound(double Shortest, double Longest, double Average, double Total, int Errors, PaperRow? SinceStart = null);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(PaperResult))]
internal sealed partial class PaperJson : JsonSerializerContext;
