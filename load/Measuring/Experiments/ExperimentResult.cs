using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Driver.Metering;
using Billing.Reporting;

namespace Billing.Measuring.Experiments;

/// <summary>The results of an experiment as JSON; the names are part of the interface. They hold all that their page
/// shows, so that they can be opened when the experiment has changed.</summary>
internal sealed record ExperimentResult : IResults
{
    /// <summary>The version of the format.</summary>
    public int Version { get; init; } = 1;

    public required string Kind { get; init; }
    public required RunInfo Run { get; init; }
    public required string Title { get; init; }

    /// <summary>Setup and method.</summary>
    public required IReadOnlyList<Fact> Facts { get; init; }

    /// <summary>The publication whose figures are shown; null for none.</summary>
    public Source? Source { get; init; }

    public required IReadOnlyList<ResultSection> Sections { get; init; }

    /// <summary>The configurations of a sweep's search by protocol, for programs that read them;
    /// null for other kinds of results.</summary>
    public IReadOnlyList<SweptProtocol>? Protocols { get; init; }

    /// <summary>The audit of each stack that was measured.</summary>
    public required IReadOnlyList<AuditCounts> Audits { get; init; }

    /// <summary>Whether nothing failed that must not fail.</summary>
    public required bool IsValid { get; init; }

    /// <summary>Whether a store was measured, which must then have a clean audit.</summary>
    public required bool HasStore { get; init; }

    long ILatencies.Failed => Sections.Sum(s => s.Rows.Sum(r => r.Rounds.Sum(m => m.Failed)));

    bool IResults.HasFigures => Sections.Any(s => s.Rows.Any(r => r.Rounds.Count > 0));

    bool IResults.IsGood => IsValid && (!HasStore || StoreAudit.AreClean(Audits));
}

/// <summary>A part of the results.</summary>
internal sealed record ResultSection
{
    public required string Title { get; init; }
    public string Text { get; init; } = "";
    public string Note { get; init; } = "";

    public required string CaseHeading { get; init; }

    /// <summary>The figures that are shown, in order.</summary>
    public required IReadOnlyList<Figure> Columns { get; init; }

    /// <summary>The figure by which each side is compared with the first of its case; null for no comparison.</summary>
    public Figure? Compared { get; init; }

    public ChartKind Chart { get; init; }

    /// <summary>The figure in the chart; null for the first column.</summary>
    public Figure? Charted { get; init; }

    public required IReadOnlyList<ResultRow> Rows { get; init; }
}

/// <summary>One case of one side.</summary>
/// <param name="Rounds">The measurements.</param>
internal sealed record ResultRow(string Case, string Side, IReadOnlyList<Measured> Rounds)
{
    /// <summary>The position of the case in a chart of lines.</summary>
    public double? Position { get; init; }

    /// <summary>The position of the case across a heat map, whose other axis is <see cref="Position"/>.</summary>
    public double? Across { get; init; }

    /// <summary>Published figures, by id.</summary>
    public IReadOnlyDictionary<string, double> Published { get; init; } = new Dictionary<string, double>();

    /// <summary>Whether the row is highlighted.</summary>
    public bool IsBest { get; init; }

    /// <summary>The values of a figure in all rounds that have it.</summary>
    public IEnumerable<double> Values(Figure figure) =>
        Rounds.Where(m => m.Figures.ContainsKey(figure.Id)).Select(m => m.Figures[figure.Id]);

    /// <summary>Median and range of a figure; null if no round has it.</summary>
    public Spread? Of(Figure figure) => Values(figure).Any() ? Spread.Of(Values(figure)) : null;
}

/// <summary>The search of a sweep over one protocol.</summary>
internal sealed record SweptProtocol(string Protocol, IReadOnlyList<SweptCell> Cells);

/// <summary>One configuration of a sweep's search.</summary>
internal sealed record SweptCell(
    int Connections, int InFlight, double DurationS, long Answers, double PerSecond,
    LatencyFigures Latency, IReadOnlyDictionary<string, long> Errors);

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(ExperimentResult))]
internal sealed partial class ExperimentJson : JsonSerializerContext;
