using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>One line of a chart.</summary>
/// <param name="Name">The name in the legend.</param>
/// <param name="Points">From left to right.</param>
public sealed record Series(string Name, IReadOnlyList<(double X, double Y)> Points);

/// <summary>A line chart, e.g. over time.</summary>
/// <param name="Title">Its title.</param>
/// <param name="X">The horizontal axis.</param>
/// <param name="Y">The vertical axis; begins at zero unless it is logarithmic.</param>
/// <param name="Lines">The lines; up to eight have different colours.</param>
public sealed record LineChart(string Title, Axis X, Axis Y, params IReadOnlyList<Series> Lines) : Chart(Title)
{
    // More marks would overlap.
    private const int MarksMax = 150;

    internal override bool HasData => Lines.Any(line => Shown(line).Any());

    private protected override double Draw(double width, List<XElement> content)
    {
        var top = Legend.Draw(content, [.. Lines.Select(l => l.Name)], width, isLine: true);
        var points = Lines.SelectMany(Shown).ToList();
        var frame = new Frame(
            content, width, top,
            (X, Scale.For(X, points.Select(p => p.X), fromZero: false, width > 500 ? 10 : 5)),
            (Y, Scale.For(Y, points.Select(p => p.Y), fromZero: true, 6)));
        for (var i = 0; i < Lines.Count; i++)
        {
            var line = Shown(Lines[i]).ToList();
            var group = Svg.Element("g", Color(i));
            group.Add(Svg.Path(line.Select(p => (frame.X(p.X), frame.Y(p.Y))), "line " + Color(i)).Titled(Lines[i].Name));
            foreach (var (x, y) in line.Count <= MarksMax ? line : [])
            {
                group.Add(Svg.Circle(frame.X(x), frame.Y(y), line.Count <= 40 ? 3 : 2, "fill mark " + Color(i))
                    .Titled($"{Lines[i].Name}: {Y.Value(y)} at {X.Value(x)}"));
            }
            content.Add(group);
        }
        return frame.Height;
    }

    private IEnumerable<(double X, double Y)> Shown(Series line) =>
        line.Points.Where(p => Scale.Shows(X, p.X) && Scale.Shows(Y, p.Y));
}
