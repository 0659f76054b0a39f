namespace Billing.Reporting;

/// <summary>The report of a measurement: data only, independent of its rendering.</summary>
public sealed record Report
{
    /// <summary>The subject of the measurement.</summary>
    public required string Title { get; init; }

    /// <summary>The outcome in one sentence; empty for none.</summary>
    public string Subtitle { get; init; } = "";

    /// <summary>The conditions of the measurement: machine, command, date, versions.</summary>
    public IReadOnlyList<Fact> Facts { get; init; } = [];

    /// <summary>The parts, in order.</summary>
    public IReadOnlyList<Section> Sections { get; init; } = [];
}

/// <summary>One condition of a measurement.</summary>
/// <param name="Name">E.g. <c>Machine</c>.</param>
/// <param name="Value">E.g. <c>2 cores, 7.8 GiB</c>.</param>
/// <param name="IsCode">Whether it is set in the font for code, e.g. a command.</param>
public sealed record Fact(string Name, string Value, bool IsCode = false);

/// <summary>A part of a report.</summary>
/// <param name="Title">Its heading; empty for none.</param>
/// <param name="Blocks">Its content, in order.</param>
public sealed record Section(string Title, params IReadOnlyList<Block> Blocks);

/// <summary>A part of a section's content.</summary>
public abstract record Block;

/// <summary>Text.</summary>
/// <param name="Content">A blank line ends a paragraph.</param>
public sealed record Prose(string Content) : Block;

/// <summary>The most important numbers, in large type.</summary>
/// <param name="Items">The numbers, best two to six.</param>
public sealed record KeyFigures(params IReadOnlyList<KeyFigure> Items) : Block;

/// <summary>One number in large type.</summary>
/// <param name="Value">The number, formatted.</param>
/// <param name="Unit">Its unit; empty for none.</param>
/// <param name="Label">Its meaning.</param>
public sealed record KeyFigure(string Value, string Unit, string Label);
