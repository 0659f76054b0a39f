using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>A series of bars of one colour.</summary>
/// <param name="Name">The name in the legend.</param>
/// <param name="Values">One value for each category; null for none. The bar shows the median; a whisker shows the range from the
/// minimum to the maximum if they differ.</param>
public sealed record Bars(string Name, IReadOnlyList<Spread?> Values)
{
    /// <summary>Creates bars of values that were measured once each.</summary>
    public static Bars Of(string name, IEnumerable<double> values) => new(name, [.. values.Select(v => new Spread(v, v, v))]);
}

/// <summary>A chart of horizontal bars in groups, each labelled with its value.</summary>
/// <param name="Title">Its title.</param>
/// <param name="Axis">The axis of the values. It begins at zero, unless the values differ so much that the shortest bars could not be seen:
/// then it is logarithmic, and says so.</param>
/// <param name="Categories">The groups, from the top.</param>
/// <param name="Groups">The bars in each group, from the top.</param>
public sealed record BarChart(string Title, Axis Axis, IReadOnlyList<string> Categories, params IReadOnlyList<Bars> Groups)
    : Chart(Title)
{
    private const double BarHeight = 20;
    private const double BarGap = 4;
    private const double GroupGap = 18;

    // On 700 pixels, the shortest bar has 7.
    private const double RatioMax = 100;

    internal override bool HasData => Categories.Count > 0 && Groups.Any(g => g.Values.Any(v => v is not null && double.IsFinite(v.Median)));

    private protected override double Draw(double width, List<XElement> content)
    {
        var top = Legend.Draw(content, [.. Groups.Select(g => g.Name)], width);
        var isNarrow = width < 500;
        var left = isNarrow ? 0 : Math.Min(width * 0.32, Categories.Max(Svg.WidthOf) + 14);
        var right = width - Groups.SelectMany(g => g.Values).Max(v => v is null ? 0 : Svg.WidthOf(Label(v))) - 12;
        var spreads = Groups.SelectMany(g => g.Values).OfType<Spread>().Where(v => double.IsFinite(v.Median)).ToList();
        var least = spreads.Min(v => v.Median);
        var axis = Axis with { IsLogarithmic = least > 0 && spreads.Max(v => v.Median) > RatioMax * least };
        // Half of the least, so that its bar has a length on a logarithmic axis, too.
        var scale = Scale.For(axis, spreads.SelectMany(v => new[] { v.Median, v.Max }).Append(Math.Max(0, least / 2)), fromZero: true, isNarrow ? 4 : 8);
        var heading = isNarrow ? 20 : 0;
        var group = heading + (Groups.Count * (BarHeight + BarGap)) + GroupGap;
        var bottom = top + (Categories.Count * group) + 4;
        foreach (var tick in scale.Ticks)
        {
            var x = left + (scale.At(tick.Value) * (right - left));
            content.Add(Svg.Line(x, top, x, bottom, "grid"));
            var anchor = isNarrow && tick == scale.Ticks[0] ? "start" : "middle";
            content.Add(Svg.Text(x, bottom + 18, tick.Label, "label", anchor));
        }
        for (var c = 0; c < Categories.Count; c++)
        {
            var y = top + (c * group) + (GroupGap / 2);
            content.Add(isNarrow
                ? Svg.Text(6, y + 13, Categories[c], "category")
                : Svg.Text(left - 10, y + (group - GroupGap - BarGap) / 2 + 4, Shorten(Categories[c], left), "category", "end").Titled(Categories[c]));
            for (var g = 0; g < Groups.Count; g++)
            {
                DrawBar(content, c, g, (left, y + heading + (g * (BarHeight + BarGap))), v => left + (Math.Max(0, scale.At(v)) * (right - left)));
            }
        }
        content.Add(Svg.Line(left, top, left, bottom, "base"));
        content.Add(Svg.Text((left + right) / 2, bottom + 40, Axis.Title + (axis.IsLogarithmic ? ", logarithmic" : ""), "axis", "middle"));
        return bottom + 48;
    }

    private void DrawBar(List<XElement> content, int category, int group, (double X, double Y) at, Func<double, double> place)
    {
        var bars = Groups[group];
        if (category >= bars.Values.Count || bars.Values[category] is not { } value || !double.IsFinite(value.Median))
        {
            content.Add(Svg.Text(at.X + 6, at.Y + 14, Numbers.None, "label"));
            return;
        }
        var end = place(value.Median);
        var hasSpread = value.Max > value.Min;
        var range = hasSpread ? $" ({Axis.Value(value.Min)} to {Axis.Value(value.Max)})" : "";
        content.Add(Svg.Rect(at.X, at.Y, end - at.X, BarHeight, "fill " + Color(group), 2)
            .Titled($"{Categories[category]}, {bars.Name}: {Axis.Value(value.Median)}{range}"));
        if (hasSpread)
        {
            var (from, to, y) = (place(value.Min), place(value.Max), at.Y + (BarHeight / 2));
            content.Add(Svg.Line(from, y, to, y, "whisker"));
            content.Add(Svg.Line(from, y - 5, from, y + 5, "whisker"));
            content.Add(Svg.Line(to, y - 5, to, y + 5, "whisker"));
            end = Math.Max(end, to);
        }
        content.Add(Svg.Text(end + 6, at.Y + 14.5, Label(value), "value"));
    }

    private static string Label(Spread value) => Numbers.Significant(value.Median);

    private static string Shorten(string text, double width)
    {
        var letters = Math.Max(4, (int)(width / Svg.WidthOf("x")) - 1);
        return text.Length <= letters ? text : string.Concat(text.AsSpan(0, letters - 1), "…");
    }
}
