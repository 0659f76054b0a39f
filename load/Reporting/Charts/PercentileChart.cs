using System.Globalization;
using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>Latency by percentile: each further nine has the same room, so that the rare and slow is seen.</summary>
/// <param name="Title">What it shows.</param>
/// <param name="Y">What was measured.</param>
/// <param name="Curves">X is the percentile, from 0 to 100.</param>
public sealed record PercentileChart(string Title, Axis Y, params IReadOnlyList<Series> Curves) : Chart(Title)
{
    private static readonly Axis Percentile = new("Percentile");

    internal override bool HasData => Curves.Any(curve => Shown(curve).Any());

    /// <summary>The curve of values.</summary>
    /// <param name="name">What they are.</param>
    /// <param name="sorted">In ascending order.</param>
    public static Series Curve(string name, IReadOnlyList<double> sorted)
    {
        ArgumentNullException.ThrowIfNull(sorted);
        var points = new List<(double, double)>();
        // As many points to every nine, up to the one value that is the highest.
        for (var nines = 0.0; sorted.Count > 0; nines += 0.05)
        {
            var share = 1 - Math.Pow(10, -nines);
            var index = Math.Min(sorted.Count - 1, (int)Math.Ceiling(share * sorted.Count));
            if (index == sorted.Count - 1)
            {
                points.Add((100 * (1 - (1.0 / (sorted.Count + 1))), sorted[^1]));
                break;
            }
            points.Add((100 * share, sorted[index]));
        }
        return new Series(name, points);
    }

    private protected override double Draw(double width, List<XElement> content)
    {
        var top = Legend.Draw(content, [.. Curves.Select(c => c.Name)], width, isLine: true);
        var points = Curves.SelectMany(Shown).ToList();
        var frame = new Frame(
            content, width, top, (Percentile, new Scale.Percentiles(points.Max(p => p.X))),
            (Y, Scale.For(Y, points.Select(p => p.Y), fromZero: true, 6)));
        for (var i = 0; i < Curves.Count; i++)
        {
            var curve = Shown(Curves[i]).ToList();
            content.Add(Svg.Path(curve.Select(p => (frame.X(p.X), frame.Y(p.Y))), "line " + Color(i)).Titled(Curves[i].Name));
            foreach (var (x, y) in curve)
            {
                content.Add(Svg.Circle(frame.X(x), frame.Y(y), 4, "mark hidden " + Color(i)).Titled(
                    $"{Curves[i].Name}: {Y.Value(y)} at {x.ToString("0.#####", CultureInfo.InvariantCulture)} %"));
            }
        }
        return frame.Height;
    }

    private IEnumerable<(double X, double Y)> Shown(Series curve) =>
        curve.Points.Where(p => double.IsFinite(p.X) && p.X is >= 0 and < 100 && Scale.Shows(Y, p.Y));
}
