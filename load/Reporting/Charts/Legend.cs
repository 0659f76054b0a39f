using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>The legend above a chart with the names of its series, on one or more lines.</summary>
internal static class Legend
{
    private const double Swatch = 14;
    private const double Gap = 22;
    private const double LineHeight = 20;

    /// <summary>Adds the legend.</summary>
    /// <param name="content">The drawing.</param>
    /// <param name="names">The series' names, in the order of their colours; a single series needs no legend.</param>
    /// <param name="width">The width of the drawing.</param>
    /// <param name="isLine">Whether the series are drawn as lines.</param>
    /// <returns>The height of the legend.</returns>
    public static double Draw(List<XElement> content, IReadOnlyList<string> names, double width, bool isLine = false)
    {
        if (names.Count < 2)
        {
            return 0;
        }
        var (x, y) = (0.0, 14.0);
        for (var i = 0; i < names.Count; i++)
        {
            var needed = Swatch + 6 + Svg.WidthOf(names[i]);
            if (x > 0 && x + needed > width)
            {
                (x, y) = (0, y + LineHeight);
            }
            var color = (i % Chart.Colors) + 1;
            content.Add(isLine
                ? Svg.Line(x, y - 4, x + Swatch + 4, y - 4, $"line s{color}")
                : Svg.Rect(x, y - 10, 12, 12, $"fill s{color}", 2));
            content.Add(Svg.Text(x + Swatch + 8, y, names[i], "legend"));
            x += needed + Gap;
        }
        return y + 12;
    }
}
