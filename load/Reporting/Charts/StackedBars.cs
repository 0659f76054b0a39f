using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>One bar that consists of parts.</summary>
/// <param name="Label">Its label.</param>
/// <param name="Values">One value for each part, zero or above.</param>
public sealed record Stack(string Label, params IReadOnlyList<double> Values);

/// <summary>A chart of horizontal bars, each of which consists of the same parts in the same order, e.g. the steps of a request.
/// </summary>
/// <param name="Title">Its title.</param>
/// <param name="Axis">The axis of the values.</param>
/// <param name="Parts">The names of the parts, from the left.</param>
/// <param name="Bars">The bars, from the top.</param>
public sealed record StackedBars(string Title, Axis Axis, IReadOnlyList<string> Parts, params IReadOnlyList<Stack> Bars)
    : Chart(Title)
{
    /// <summary>Whether every bar is drawn in full length, so that shares can be compared although the sums differ widely. The
    /// numbers in and after the bars are still the values.</summary>
    public bool IsShare { get; init; }

    private const double BarHeight = 30;
    private const double BarGap = 16;

    internal override bool HasData => Bars.Any(bar => Total(bar) > 0);

    private protected override double Draw(double width, List<XElement> content)
    {
        var top = Legend.Draw(content, Parts, width);
        var isNarrow = width < 500;
        var heading = isNarrow ? 20 : 0;
        var left = isNarrow ? 0 : Math.Min(width * 0.3, Bars.Max(b => Svg.WidthOf(b.Label)) + 14);
        var right = width - Bars.Max(b => Svg.WidthOf(Sum(b))) - 12;
        var axis = IsShare ? new Axis("Share of the " + Axis.Label.ToLowerInvariant(), "%") : Axis with { IsLogarithmic = false };
        var scale = Scale.For(axis, IsShare ? [100] : Bars.Select(Total), fromZero: true, isNarrow ? 4 : 8);
        var step = heading + BarHeight + BarGap;
        var bottom = top + (Bars.Count * step) + 2;
        foreach (var tick in scale.Ticks)
        {
            var x = left + (scale.At(tick.Value) * (right - left));
            content.Add(Svg.Line(x, top, x, bottom, "grid"));
            content.Add(Svg.Text(x, bottom + 18, tick.Label, "label", isNarrow && tick == scale.Ticks[0] ? "start" : "middle"));
        }
        for (var i = 0; i < Bars.Count; i++)
        {
            var y = top + (i * step) + (BarGap / 2);
            content.Add(isNarrow
                ? Svg.Text(6, y + 13, Bars[i].Label, "category")
                : Svg.Text(left - 10, y + (BarHeight / 2) + 4, Bars[i].Label, "category", "end"));
            var full = IsShare ? Math.Max(double.Epsilon, Total(Bars[i])) / 100 : 1;
            DrawBar(content, Bars[i], y + heading, v => left + (scale.At(v / full) * (right - left)));
        }
        content.Add(Svg.Line(left, top, left, bottom, "base"));
        content.Add(Svg.Text((left + right) / 2, bottom + 40, axis.Title, "axis", "middle"));
        return bottom + 48;
    }

    private void DrawBar(List<XElement> content, Stack bar, double y, Func<double, double> place)
    {
        var sum = 0.0;
        var decimals = Numbers.Decimals([Total(bar)]);
        for (var part = 0; part < Parts.Count && part < bar.Values.Count; part++)
        {
            var value = Counted(bar.Values[part]);
            var (from, to) = (place(sum), place(sum + value));
            sum += value;
            if (to - from < 0.3)
            {
                continue;
            }
            content.Add(Svg.Rect(from, y, to - from, BarHeight, "fill part " + Color(part))
                .Titled($"{bar.Label}, {Parts[part]}: {Axis.Value(value)}"));
            var label = Numbers.Fixed(value, decimals);
            if (Svg.WidthOf(label) + 10 < to - from)
            {
                content.Add(Svg.Text((from + to) / 2, y + (BarHeight / 2) + 4.5, label, "inside on-" + Color(part), "middle"));
            }
        }
        content.Add(Svg.Text(place(sum) + 6, y + (BarHeight / 2) + 4.5, Sum(bar), "value"));
    }

    private string Sum(Stack bar) => IsShare ? Axis.Value(Total(bar)) : Numbers.Significant(Total(bar));

    private static double Total(Stack bar) => bar.Values.Sum(Counted);

    private static double Counted(double value) => double.IsFinite(value) && value > 0 ? value : 0;
}
