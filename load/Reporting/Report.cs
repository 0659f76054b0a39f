namespace Billing.Reporting;

/// <summary>What a measurement has to say to a person: plain data, without a trace of how it is drawn.</summary>
public sealed record Report
{
    /// <summary>What was measured.</summary>
    public required string Title { get; init; }

    /// <summary>The outcome in one sentence; empty for none.</summary>
    public string Subtitle { get; init; } = "";

    /// <summary>What one must know to read the figures: machine, command, date, versions.</summary>
    public IReadOnlyList<Fact> Facts { get; init; } = [];

    /// <summary>The parts, in order.</summary>
    public IReadOnlyList<Section> Sections { get; init; } = [];
}

/// <summary>One thing to know about a measurement.</summary>
/// <param name="Name">E.g. <c>Machine</c>.</param>
/// <param name="Value">E.g. <c>2 cores, 7.8 GiB</c>.</param>
/// <param name="IsCode">Whether it is to be typed, as a command is.</param>
public sealed record Fact(string Name, string Value, bool IsCode = false);

/// <summary>A part of a report.</summary>
/// <param name="Title">Its heading; empty for none.</param>
/// <param name="Blocks">What it consists of, in order.</param>
public sealed record Section(string Title, params IReadOnlyList<Block> Blocks);

/// <summary>Something that a section shows.</summary>
public abstract record Block;

/// <summary>Text, in plain words.</summary>
/// <param name="Content">A blank line ends a paragraph.</param>
public sealed record Prose(string Content) : Block;

/// <summary>A few numbers in large type: what a reader should take away.</summary>
/// <param name="Items">Two to six are read best.</param>
public sealed record KeyFigures(params IReadOnlyList<KeyFigure> Items) : Block;

/// <summary>One number in large type.</summary>
/// <param name="Value">The number, formatted.</param>
/// <param name="Unit">Its unit; empty for none.</param>
/// <param name="Label">What it is.</param>
public sealed record KeyFigure(string Value, string Unit, string Label);
