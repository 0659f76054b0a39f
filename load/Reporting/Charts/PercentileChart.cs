using System.Globalization;
using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>Latency by percentile. The steps 90 to 99, 99 to 99.9 and so on have the same width, so that rare high latencies are
/// visible.</summary>
/// <param name="Title">Its title.</param>
/// <param name="Y">The measured quantity.</param>
/// <param name="Curves">The curves; X is the percentile, from 0 to 100.</param>
public sealed record PercentileChart(string Title, Axis Y, params IReadOnlyList<Series> Curves) : Chart(Title)
{
    private static readonly Axis Percentile = new("Percentile");

    internal override bool HasData => Curves.Any(curve => Shown(curve).Any());

    /// <summary>Creates the curve of values.</summary>
    /// <param name="name">The name in the legend.</param>
    /// <param name="sorted">The values in ascending order.</param>
    public static Series Curve(string name, IReadOnlyList<double> sorted)
    {
        ArgumentNullException.ThrowIfNull(sorted);
        var points = new List<(double, double)>();
        // The same number of points for each step (90 to 99, 99 to 99.9 and so on), up to the highest value.
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
