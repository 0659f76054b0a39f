using System.Text.Json.Serialization;
using Billing.Driver;
using Billing.Reporting;

namespace Billing.Measuring.Experiments;

/// <summary>An experiment: what is measured, under which loads, in how many rounds, and how its
/// figures are shown.</summary>
internal sealed record Experiment
{
    /// <summary>The kind of its results, e.g. <c>compare-scale</c>.</summary>
    public required string Kind { get; init; }

    /// <summary>Its subject.</summary>
    public required string Title { get; init; }

    /// <summary>The publication that it repeats; null for none.</summary>
    public Source? Paper { get; init; }

    /// <summary>Setup, method, and in what it differs from the publication.</summary>
    public IReadOnlyList<Fact> Facts { get; init; } = [];

    /// <summary>The parts of its results.</summary>
    public required IReadOnlyList<SectionPlan> Sections { get; init; }

    /// <summary>What runs one after the other.</summary>
    public required IReadOnlyList<Part> Parts { get; init; }
}

/// <summary>How a part of the figures is shown.</summary>
/// <param name="Title">Its heading; cases refer to it.</param>
/// <param name="CaseHeading">The heading of the column of cases.</param>
/// <param name="Columns">The figures, in order.</param>
internal sealed record SectionPlan(string Title, string CaseHeading, params IReadOnlyList<Figure> Columns)
{
    /// <summary>Text before the figures.</summary>
    public string Text { get; init; } = "";

    /// <summary>The note below the figures.</summary>
    public string Note { get; init; } = "";

    /// <summary>The figure by which each side is compared with the first; null for no comparison.</summary>
    public Figure? Compared { get; init; }

    public ChartKind Chart { get; init; } = ChartKind.Bars;

    /// <summary>The figure in the chart; the first column by default.</summary>
    public Figure? Charted { get; init; }
}

/// <summary>The chart of a section.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<ChartKind>))]
internal enum ChartKind
{
    None,

    /// <summary>A bar for each case and side.</summary>
    Bars,

    /// <summary>A line for each side over the positions of the cases.</summary>
    Lines,

    /// <summary>A heat map over the two positions of the cases.</summary>
    Heat,
}

/// <summary>Sides that run at the same time and are measured in turn under each of the loads.</summary>
/// <param name="Sides">The sides; the first is what the others are compared with.</param>
/// <param name="Cases">The loads.</param>
/// <param name="Rounds">Number of measured rounds; one more runs before them and is dropped.</param>
internal sealed record Part(IReadOnlyList<SidePlan> Sides, IReadOnlyList<Case> Cases, int Rounds)
{
    /// <summary>Whether each measurement has a side of its own, started just before it:
    /// nothing is warm, and no round is dropped.</summary>
    public bool IsCold { get; init; }
}

/// <summary>A side before it is started.</summary>
internal sealed record SidePlan(string Name, Func<CancellationToken, Task<Side>> StartAsync);

/// <summary>A load under which sides are measured.</summary>
/// <param name="Section">The title of the section that shows it.</param>
/// <param name="MeasureAsync">Measures a side.</param>
internal sealed record Case(string Section, string Name, Func<Side, CancellationToken, Task<Measured>> MeasureAsync)
{
    /// <summary>Its position in a chart of lines.</summary>
    public double? Position { get; init; }

    /// <summary>Published figures by the name of the side, then by figure.</summary>
    public IReadOnlyDictionary<string, IReadOnlyDictionary<string, double>> Published { get; init; } =
        new Dictionary<string, IReadOnlyDictionary<string, double>>();

    /// <summary>Whether failed requests are among what is measured and do not make the results invalid.</summary>
    public bool MayFail { get; init; }

    /// <summary>A case in which a side gets a load from one driver, with the addresses of the side.</summary>
    public static Case Of(string section, string name, LoadSpec load, int drivers = 1) => new(
        section, name,
        async (side, cancellationToken) => Measured.Of(await side.LoadAsync(load, drivers, cancellationToken)));
}
