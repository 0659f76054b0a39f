using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Paper;

/// <summary>The burst tables, as JSON; the names are part of the interface. Times in seconds.</summary>
internal sealed record PaperResult : IResults
{
    /// <summary>How it is kept.</summary>
    public static ResultFormat<PaperResult> Format { get; } = new("compare-paper", PaperJson.Default.PaperResult, PaperPage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }

    /// <summary>Where the printed figures are from.</summary>
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

    bool IResults.IsGood => Books.AreClean(Audits)
        && Cases.All(c => c.Rounds.All(r => r.Errors == 0));
}

/// <summary>One row of the tables: what its rounds came to, beside what was printed.</summary>
internal sealed record PaperCase(int Backends, bool Jitter, int Requests, PaperRow? Printed, IReadOnlyList<PaperRound> Rounds)
{
    public Spread Shortest => Spread.Of(Rounds.Select(r => r.Shortest));

    public Spread Longest => Spread.Of(Rounds.Select(r => r.Longest));

    public Spread Average => Spread.Of(Rounds.Select(r => r.Average));

    public Spread Total => Spread.Of(Rounds.Select(r => r.Total));

    /// <summary>The longest since the burst began; zero in results from before it was measured.</summary>
    public Spread LongestSinceStart => SinceStart(times => times.Longest);

    public Spread ShortestSinceStart => SinceStart(times => times.Shortest);

    public Spread AverageSinceStart => SinceStart(times => times.Average);

    /// <summary>How many times over the printed longest time is our longest since the burst began: above 1, ours is shorter.</summary>
    public double? LongestSinceStartRatio => Printed is null || LongestSinceStart.Median == 0 ? null : Printed.Longest / LongestSinceStart.Median;

    /// <summary>How many times over the printed longest time is the longest of our calls: above 1, ours is shorter. A call is timed
    /// from when the sending loop gets to it.</summary>
    public double? LongestRatio => Printed is null || Longest.Median == 0 ? null : Printed.Longest / Longest.Median;

    private Spread SinceStart(Func<PaperRow, double> time) => Spread.Of(Rounds.Select(r => r.SinceStart).OfType<PaperRow>().Select(time));
}

/// <summary>One burst.</summary>
/// <param name="Shortest">The shortest request, each timed from its call.</param>
/// <param name="Longest">The longest.</param>
/// <param name="Average">The mean.</param>
/// <param name="Total">From the first client's start to the last answer.</param>
/// <param name="Errors">Requests that failed.</param>
/// <param name="SinceStart">The same requests timed from when the burst began; null in older results.</param>
internal sealed record PaperRound(double Shortest, double Longest, double Average, double Total, int Errors, PaperRow? SinceStart = null);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(PaperResult))]
internal sealed partial class PaperJson : JsonSerializerContext;
