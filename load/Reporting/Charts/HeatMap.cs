using System.Globalization;
using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>A grid of cells with a value for each pair of two settings; higher values have more colour.
/// The highest is framed.</summary>
/// <param name="Columns">The name of the first setting.</param>
/// <param name="ColumnLabels">Its values, from the left.</param>
/// <param name="Rows">The name of the second setting.</param>
/// <param name="RowLabels">Its values, from the top.</param>
/// <param name="Value">The measured quantity.</param>
/// <param name="Values">By row, then column; null if not measured.</param>
public sealed record HeatMap(
    string Title, string Columns, IReadOnlyList<string> ColumnLabels, string Rows, IReadOnlyList<string> RowLabels,
    Axis Value, IReadOnlyList<IReadOnlyList<double?>> Values) : Chart(Title)
{
    internal override bool HasData => Known.Any();

    private IEnumerable<double> Known => Values.SelectMany(row => row).OfType<double>().Where(double.IsFinite);

    internal override IEnumerable<XElement> Draw() =>
    [
        Html.Element("p", "note", $"{Rows} ↓, {Columns} →; {Value.Title}; frame: the highest value"),
        Html.Element("div", "scroll", Html.Element("table", "heat",
            Html.Element(
                "thead", null,
                Html.Element("tr", null, ColumnLabels.Prepend("").Select(label => Html.Element("th", "right", label)))),
            Html.Element("tbody", null, RowLabels.Zip(Values).Select(row => Html.Element(
                "tr", null, Html.Element("th", "right", row.First), row.Second.Select(CellOf)))))),
    ];

    // Never so much colour that the text loses its contrast.
    private XElement CellOf(double? value)
    {
        if (value is not { } known || !double.IsFinite(known))
        {
            return Html.Element("td", "right", Numbers.None);
        }
        var (min, max) = (Known.Min(), Known.Max());
        var percent = max > min ? 60 * (known - min) / (max - min) : 60;
        return Html.Element("td", known == max ? "right best" : "right", Html.Style(
            string.Create(
                CultureInfo.InvariantCulture, $"background:color-mix(in srgb,var(--c1) {percent:0.#}%,var(--page))")),
            Numbers.Significant(known));
    }
}
