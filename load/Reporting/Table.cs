namespace Billing.Reporting;

/// <summary>A table.</summary>
public sealed record Table : Block
{
    /// <summary>The title above the table; empty for none.</summary>
    public string Title { get; init; } = "";

    /// <summary>The columns, in order.</summary>
    public required IReadOnlyList<Column> Columns { get; init; }

    /// <summary>The rows, each with at most as many cells as there are columns.</summary>
    public required IReadOnlyList<Row> Rows { get; init; }

    /// <summary>The note below the table; empty for none.</summary>
    public string Note { get; init; } = "";
}

/// <summary>A column of a table.</summary>
/// <param name="Name">Its heading.</param>
/// <param name="Align">The alignment of its values; numbers are aligned to the right.</param>
/// <param name="Unit">The unit of its values, shown with the heading.</param>
/// <param name="IsPaper">Whether it contains published figures of a paper, which look different
/// from measured ones.</param>
public sealed record Column(string Name, Align Align = Align.Right, string Unit = "", bool IsPaper = false);

/// <summary>The alignment of a column.</summary>
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
    /// <summary>Whether the row is highlighted, e.g. the best or the total.</summary>
    public bool IsHighlighted { get; init; }
}

/// <summary>A cell of a table.</summary>
/// <param name="Text">The formatted text.</param>
/// <param name="IsHighlighted">Whether it is highlighted, e.g. the best of its column.</param>
public sealed record Cell(string Text, bool IsHighlighted = false)
{
    /// <summary>Creates a cell without a highlight.</summary>
    public static implicit operator Cell(string text) => new(text);
}
