using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>A chart.</summary>
/// <param name="Title">Its title.</param>
public abstract record Chart(string Title) : Block
{
    /// <summary>The width of charts on wide screens and paper, in pixels.</summary>
    internal const double Wide = 860;

    /// <summary>The width of charts on phones, in pixels.</summary>
    internal const double Narrow = 372;

    /// <summary>The number of colours for series; further series start again with the first.</summary>
    internal const int Colors = 8;

    /// <summary>The name of its file without an extension; if empty, derived from the title.</summary>
    public string Name { get; init; } = "";

    /// <summary>The note below the chart; empty for none.</summary>
    public string Note { get; init; } = "";

    /// <summary>Whether there is something to draw.</summary>
    internal abstract bool HasData { get; }

    /// <summary>Draws the chart.</summary>
    /// <param name="width">The width in pixels.</param>
    /// <returns>An svg element, which is formatted by the page's style sheet.</returns>
    internal XElement Draw(double width)
    {
        if (!HasData)
        {
            return Svg.Root(width, 60, Title, [Svg.Text(width / 2, 34, "No data.", "label empty", "middle")]);
        }
        var content = new List<XElement>();
        var height = Draw(width, content);
        return Svg.Root(width, height, Title, content);
    }

    /// <summary>Draws the chart as a self-contained SVG file.</summary>
    public string ToSvg()
    {
        const double Margin = 16;
        const double Head = 30;
        var drawing = Draw(Wide);
        var size = drawing.Attribute("viewBox")!.Value.Split(' ');
        var height = double.Parse(size[3], System.Globalization.CultureInfo.InvariantCulture);
        var root = Svg.Root(Wide + (2 * Margin), height + Head + (2 * Margin), Title,
        [
            Svg.Element("title", null, Svg.Clean(Title)),
            Svg.Element("style", null, StyleSheets.Charts),
            Svg.Rect(0, 0, Wide + (2 * Margin), height + Head + (2 * Margin), "paper"),
            Svg.Text(Margin, Margin + 14, Title, "heading"),
            Svg.Element("g", null, new XAttribute("transform", $"translate({Margin} {Margin + Head})"), drawing.Elements()),
        ]);
        root.Add(Svg.At("width", Wide + (2 * Margin)), Svg.At("height", height + Head + (2 * Margin)));
        return root + "\n";
    }

    /// <summary>Adds the drawing's elements.</summary>
    /// <returns>The height of the drawing in pixels.</returns>
    private protected abstract double Draw(double width, List<XElement> content);

    /// <summary>Returns the CSS class for the colour of the series with this number, from 0.</summary>
    private protected static string Color(int series) => "s" + ((series % Colors) + 1).ToString(System.Globalization.CultureInfo.InvariantCulture);
}
