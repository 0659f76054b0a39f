using System.Xml.Linq;
using Billing.Reporting.Charts;
using static Billing.Reporting.Charts.Html;

namespace Billing.Reporting.Pages;

/// <summary>Renders a report as a self-contained HTML page without scripts, fonts or network access.
/// It is also well-formed XML.</summary>
internal static class HtmlPage
{
    // Longer facts get a separate line.
    private const int LongFact = 48;

    public static string Of(Report report)
    {
        var page = Element("html", null,
            new XAttribute("lang", "en"),
            Element("head", null,
                Void("meta", ("charset", "utf-8")),
                Void("meta", ("name", "viewport"), ("content", "width=device-width, initial-scale=1")),
                Element("title", null, report.Title),
                Element("style", null, StyleSheets.Page)),
            Element("body", null, Element("main", null,
                Element("header", null,
                    Element("h1", null, report.Title),
                    report.Subtitle.Length > 0 ? Element("p", "subtitle", report.Subtitle) : null,
                    report.Facts.Count > 0 ? Element("dl", "facts", report.Facts.Select(Fact)) : null),
                report.Sections.Select(Part))));
        return "<!DOCTYPE html>\n" + page.ToString(SaveOptions.DisableFormatting) + "\n";
    }

    private static XElement Fact(Fact fact) => Element("div", fact.Value.Length > LongFact ? "long" : null,
        Element("dt", null, fact.Name),
        Element("dd", null, fact.IsCode ? Element("code", null, Words(fact.Value.Split(' '))) : fact.Value));

    /// <summary>Allows line breaks only between the parts, not at the hyphens of a command's options
    /// or within a range.</summary>
    private static IEnumerable<object> Words(IEnumerable<string> parts) => parts.SelectMany((word, i) => new object[]
    {
        i == 0 ? "" : " ", word.Length <= LongFact ? Element("span", "word", word) : Clean(word),
    });

    private static XElement Part(Section section) => Element("section", null,
        section.Title.Length > 0 ? Element("h2", null, section.Title) : null, section.Blocks.Select(Show));

    private static object Show(Block block) => block switch
    {
        Prose prose =>
            prose.Content.Split("\n\n", StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
                .Select(paragraph => Element("p", null, paragraph)),
        KeyFigures figures => Element("div", "figures", figures.Items.Select(Show)),
        Table table => Show(table),
        Chart chart => Show(chart),
        _ => throw new ArgumentOutOfRangeException(nameof(block), block, "The page cannot show this kind of block."),
    };

    private static XElement Show(KeyFigure figure) => Element("div", "figure",
        Element(
            "div", "number", figure.Value,
            figure.Unit.Length > 0 ? Element("span", "unit", "\u202F" + figure.Unit) : null),
        Element("div", "what", figure.Label));

    private static XElement Show(Chart chart) => Element("figure", null,
        Element("figcaption", null, chart.Title),
        chart.HasData ? chart.Draw() : [Element("p", "none", "No data.")],
        Note(chart.Note));

    private static XElement Show(Table table) => Element("figure", null,
        table.Title.Length > 0 ? Element("figcaption", null, table.Title) : null,
        table.Rows.Count == 0
            ? Element("p", "none", "No data.")
            : Element("div", "scroll", Element("table", null,
                Element("thead", null, Element("tr", null, table.Columns.Select(Head))),
                Element("tbody", null, table.Rows.Select(row => Show(row, table.Columns))))),
        Note(table.Note));

    private static XElement Head(Column column) => Element("th", Classes(column, false), new XAttribute("scope", "col"),
        column.Name, column.Unit.Length > 0 ? Element("span", "unit", column.Unit) : null);

    private static XElement Show(Row row, IReadOnlyList<Column> columns) =>
        Element("tr", row.IsHighlighted ? "first" : null,
            columns.Select((column, i) => i < row.Cells.Count
                ? Element(
                    "td", Classes(column, row.Cells[i].IsHighlighted),
                    column.Align == Align.Right ? Words(NumberAndRange(row.Cells[i].Text)) : row.Cells[i].Text)
                : Element("td", Classes(column, false))));

    private static string[] NumberAndRange(string text) =>
        text.IndexOf(" (", StringComparison.Ordinal) is > 0 and var at
            ? [text[..at], text[(at + 1)..]]
            : [text];

    private static string Classes(Column column, bool isHighlighted) => string.Join(' ', new[]
    {
        column.Align == Align.Right ? "right" : "left",
        column.IsPaper ? "published" : null,
        isHighlighted ? "first" : null,
    }.OfType<string>());

    private static XElement? Note(string note) => note.Length > 0 ? Element("p", "note", note) : null;

    private static XElement Void(string name, params (string Name, string Value)[] attributes) =>
        new(name, attributes.Select(a => new XAttribute(a.Name, a.Value)));
}
