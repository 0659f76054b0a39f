using System.Globalization;
using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>One line of a chart.</summary>
/// <param name="Name">The name in the legend.</param>
/// <param name="Points">From left to right.</param>
public sealed record Series(string Name, IReadOnlyList<(double X, double Y)> Points);

/// <summary>A line chart, e.g. over time.</summary>
/// <param name="X">The horizontal axis.</param>
/// <param name="Y">The vertical axis; begins at zero unless it is logarithmic.</param>
/// <param name="Lines">The lines; up to eight have different colours.</param>
public sealed record LineChart(string Title, Axis X, Axis Y, params IReadOnlyList<Series> Lines) : Chart(Title)
{
    private const int Width = 860;
    private const int Height = 320;
    private const int Left = 70;
    private const int Bottom = 270;

    // More marks would overlap.
    private const int MarksMax = 150;

    private static readonly XNamespace Svg = "http://www.w3.org/2000/svg";

    internal override bool HasData => Lines.Any(line => Shown(line).Any());

    internal override IEnumerable<XElement> Draw()
    {
        var points = Lines.SelectMany(Shown).ToList();
        var x = Ticks.Of(X, points.Select(p => p.X), fromZero: false, 10);
        var y = Ticks.Of(Y, points.Select(p => p.Y), fromZero: true, 6);
        double AtX(double value) => Left + (Ticks.ShareOf(X, x, value) * (Width - 20 - Left));
        double AtY(double value) => Bottom - (Ticks.ShareOf(Y, y, value) * (Bottom - 24));
        return
        [
            .. Html.Legend([.. Lines.Select(l => l.Name)], ""),
            Html.Element("div", "scroll", Element("svg", "chart",
                new XAttribute("viewBox", $"0 0 {Width} {Height}"), new XAttribute("role", "img"),
                new XAttribute("aria-label", Html.Clean(Title)), Text(0, 12, Y.Title, "start"),
                Text((Left + Width) / 2, Height - 6, X.Title, "middle"),
                y.Select(tick => (XElement[])[Line(Left, AtY(tick.Value), Width - 20, AtY(tick.Value)), Text(
                    Left - 8, AtY(tick.Value) + 4, tick.Label, "end")]),
                x.Select(tick => (XElement[])[Line(AtX(tick.Value), Bottom, AtX(tick.Value), Bottom + 5), Text(
                    AtX(tick.Value), Bottom + 20, tick.Label, "middle")]),
                Lines.Select((line, i) => Drawn(line, i, AtX, AtY)))),
        ];
    }

    private XElement Drawn(Series line, int index, Func<double, double> atX, Func<double, double> atY)
    {
        var shown = Shown(line).ToList();
        return Element("g", Html.Color(index),
            Element("polyline", "line", new XAttribute(
                "points", string.Join(' ', shown.Select(p => $"{Number(atX(p.X))},{Number(atY(p.Y))}")))),
            shown.Take(shown.Count <= MarksMax ? MarksMax : 0).Select(p => Element("circle", "mark",
                At("cx", atX(p.X)), At("cy", atY(p.Y)), At("r", 2.5),
                Element("title", null, Html.Clean($"{line.Name}: {Y.Value(p.Y)} at {X.Value(p.X)}")))));
    }

    private IEnumerable<(double X, double Y)> Shown(Series line) =>
        line.Points.Where(p => Ticks.Shows(X, p.X) && Ticks.Shows(Y, p.Y));

    private static XElement Line(double x1, double y1, double x2, double y2) =>
        Element("line", "grid", At("x1", x1), At("y1", y1), At("x2", x2), At("y2", y2));

    private static XElement Text(double x, double y, string text, string anchor) =>
        Element("text", null, At("x", x), At("y", y), new XAttribute("text-anchor", anchor), Html.Clean(text));

    private static XElement Element(string name, string? cssClass, params object?[] content) =>
        new(Svg + name, cssClass is null ? null : new XAttribute("class", cssClass), content);

    private static XAttribute At(string name, double value) => new(name, Number(value));

    private static string Number(double value) => value.ToString("0.##", CultureInfo.InvariantCulture);
}
