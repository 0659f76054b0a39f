using Spectre.Console;

namespace Billing.Reporting;

/// <summary>Prints the parts of a report that a terminal can show: title, subtitle, tables and text.</summary>
internal static class ConsoleReport
{
    public static void Print(IAnsiConsole console, Report report)
    {
        console.WriteLine();
        console.MarkupLineInterpolated($"[bold]{report.Title}[/]");
        if (report.Subtitle.Length > 0)
        {
            console.WriteLine(report.Subtitle);
        }
        foreach (var section in report.Sections)
        {
            if (section.Title.Length > 0)
            {
                console.WriteLine();
                console.MarkupLineInterpolated($"[bold]{section.Title}[/]");
            }
            foreach (var block in section.Blocks)
            {
                Print(console, block);
            }
        }
    }

    private static void Print(IAnsiConsole console, Block block)
    {
        switch (block)
        {
            case Table table:
                console.Write(Drawn(table));
                break;
            case Prose prose:
                console.WriteLine(prose.Content);
                break;
            default:
                // Charts are shown on the page only.
                break;
        }
    }

    private static Spectre.Console.Table Drawn(Table table)
    {
        var drawn = new Spectre.Console.Table().Border(TableBorder.Rounded);
        if (table.Title.Length > 0)
        {
            drawn.Title(Markup.Escape(table.Title));
        }
        foreach (var column in table.Columns)
        {
            var heading = Markup.Escape(column.Unit.Length > 0 ? $"{column.Name} ({column.Unit})" : column.Name);
            drawn.AddColumn(new TableColumn(column.IsPaper ? $"[italic]{heading}[/]" : heading)
            {
                Alignment = column.Align == Align.Right ? Justify.Right : Justify.Left,
            });
        }
        foreach (var row in table.Rows)
        {
            drawn.AddRow(row.Cells.Select(cell =>
                cell.IsHighlighted || row.IsHighlighted
                    ? $"[bold]{Markup.Escape(cell.Text)}[/]"
                    : Markup.Escape(cell.Text)).ToArray());
        }
        if (table.Note.Length > 0)
        {
            drawn.Caption(Markup.Escape(table.Note));
        }
        return drawn;
    }
}
