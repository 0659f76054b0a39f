namespace Billing.Reporting;

/// <summary>A table.</summary>
public sealed record Table : Block
{
    /// <summary>Stands above it; empty for none.</summary>
    public string Title { get; init; } = "";

    /// <summary>The columns, in order.</summary>
    public required IReadOnlyList<Column> Columns { get; init; }

    /// <summary>The rows, each with as many cells as there are columns, or fewer.</summary>
    public required IReadOnlyList<Row> Rows { get; init; }

    /// <summary>Stands below it; empty for none.</summary>
    public string Note { get; init; } = "";
}

/// <summary>A column of a table.</summary>
/// <param name="Name">Its heading.</param>
/// <param name="Align">Numbers go to the right.</param>
/// <param name="Unit">Of all its values; shown with the heading.</param>
/// <param name="IsPaper">Whether it holds what somebody else has published: it is set apart from what was measured.</param>
public sealed record Column(string Name, Align Align = Align.Right, string Unit = "", bool IsPaper = false);

/// <summary>Where the text of a column stands.</summary>
public enum Align
{
    /// <summary>For words.</summary>
    Left,

    /// <summary>For numbers.</summary>
    Right,
}

/// <summary>A row of a table.</summary>
/// <param name="Cells">From left to right.</param>
public sealed record Row(params IReadOnlyList<Cell> Cells)
{
    /// <summary>Whether the row is to be seen first, e.g. the best or the total.</summary>
    public bool IsHighlighted { get; init; }
}

/// <summary>A cell of a table.</summary>
/// <param name="Text">What it says, formatted.</param>
/// <param name="IsHighlighted">Whether it is to be seen first, e.g. the best of its column.</param>
public sealed record Cell(string Text, bool IsHighlighted = false)
{
    /// <summary>A plain cell.</summary>
    public static implicit operator Cell(string text) => new(text);
}
