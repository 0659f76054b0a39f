using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>Two axes with their labels and grid, and the positions of values between them.</summary>
internal sealed class Frame
{
    private const double PlotHeight = 260;

    private readonly Scale _x;
    private readonly Scale _y;
    private readonly double _left;
    private readonly double _right;
    private readonly double _top;
    private readonly double _bottom;

    /// <summary>Adds the axes to a drawing.</summary>
    public Frame(List<XElement> content, double width, double top, (Axis Axis, Scale Scale) x, (Axis Axis, Scale Scale) y)
    {
        (_x, _y) = (x.Scale, y.Scale);
        _left = _y.Ticks.Max(t => Svg.WidthOf(t.Label)) + 12;
        _right = width - 14;
        _top = top + 26;
        _bottom = _top + PlotHeight;
        content.Add(Svg.Text(0, top + 12, y.Axis.Title, "axis"));
        foreach (var tick in _y.Ticks)
        {
            var at = Y(tick.Value);
            content.Add(Svg.Line(_left, at, _right, at, "grid"));
            content.Add(Svg.Text(_left - 8, at + 4, tick.Label, "label", "end"));
        }
        content.Add(Svg.Line(_left, _bottom, _right, _bottom, "base"));
        DrawLabels(content);
        content.Add(Svg.Text((_left + _right) / 2, _bottom + 42, x.Axis.Title, "axis", "middle"));
    }

    /// <summary>The height of the whole drawing.</summary>
    public double Height => _bottom + 50;

    public double X(double value) => _left + (_x.At(value) * (_right - _left));

    public double Y(double value) => _bottom - (_y.At(value) * (_bottom - _top));

    /// <summary>Adds the labels below the axis, without those that would overlap the previous one.</summary>
    private void DrawLabels(List<XElement> content)
    {
        var end = double.MinValue;
        foreach (var tick in _x.Ticks)
        {
            var (at, half) = (X(tick.Value), Svg.WidthOf(tick.Label) / 2);
            content.Add(Svg.Line(at, _bottom, at, _bottom + 5, "base"));
            if (at - half > end + 6)
            {
                var isLast = at + half > _right + 14;
                content.Add(Svg.Text(isLast ? _right + 14 : at, _bottom + 20, tick.Label, "label", isLast ? "end" : "middle"));
                end = at + half;
            }
        }
    }
}
