using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>A picture of figures.</summary>
/// <param name="Title">What it shows.</param>
public abstract record Chart(string Title) : Block
{
    /// <summary>The width in which charts are drawn for pages and paper, in pixels.</summary>
    internal const double Wide = 860;

    /// <summary>The width in which charts are drawn for phones, in pixels.</summary>
    internal const double Narrow = 372;

    /// <summary>Series that are told apart by their colours; further ones start over.</summary>
    internal const int Colors = 8;

    /// <summary>The name of its file, without an ending; by default made from the title.</summary>
    public string Name { get; init; } = "";

    /// <summary>Stands below it; empty for none.</summary>
    public string Note { get; init; } = "";

    /// <summary>Whether there is something to draw.</summary>
    internal abstract bool HasData { get; }

    /// <summary>Draws it.</summary>
    /// <param name="width">In pixels.</param>
    /// <returns>An svg element, which takes its looks from the page's style sheet.</returns>
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

    /// <summary>The drawing as a file of its own.</summary>
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
    /// <returns>Its height in pixels.</returns>
    private protected abstract double Draw(double width, List<XElement> content);

    /// <summary>The class of the series with this number, from 0: its colour.</summary>
    private protected static string Color(int series) => "s" + ((series % Colors) + 1).ToString(System.Globalization.CultureInfo.InvariantCulture);
}
