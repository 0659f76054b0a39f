using System.Globalization;
using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>A grid of cells with a value for each pair of two settings; higher values are darker. The best value is framed.
/// </summary>
/// <param name="Title">Its title.</param>
/// <param name="Columns">The name of the first setting.</param>
/// <param name="ColumnLabels">Its values, from the left.</param>
/// <param name="Rows">The name of the second setting.</param>
/// <param name="RowLabels">Its values, from the top.</param>
/// <param name="Value">The measured quantity.</param>
/// <param name="Values">By row, then column; null if not measured.</param>
public sealed record HeatMap(
    string Title, string Columns, IReadOnlyList<string> ColumnLabels, string Rows, IReadOnlyList<string> RowLabels, Axis Value,
    IReadOnlyList<IReadOnlyList<double?>> Values) : Chart(Title)
{
    private const double CellHeight = 38;

    // From light to dark in one hue, which is distinguishable for colour-blind readers and in black and white.
    private static readonly (int R, int G, int B)[] Ramp = [(0xEF, 0xF5, 0xFB), (0x9E, 0xCA, 0xE1), (0x42, 0x92, 0xC6), (0x08, 0x45, 0x94)];

    /// <summary>Whether the lowest value is the best, e.g. for latencies.</summary>
    public bool LeastIsBest { get; init; }

    internal override bool HasData => Known().Any();

    private protected override double Draw(double width, List<XElement> content)
    {
        var (min, max) = (Known().Min(), Known().Max());
        var best = LeastIsBest ? min : max;
        var left = RowLabels.Max(Svg.WidthOf) + 14;
        var cell = Math.Min(120, (width - left - 2) / Math.Max(1, ColumnLabels.Count));
        const double Top = 46;
        content.Add(Svg.Text(0, 12, $"{Rows} ↓ · {Columns} →", "axis"));
        for (var c = 0; c < ColumnLabels.Count; c++)
        {
            content.Add(Svg.Text(left + ((c + 0.5) * cell), Top - 10, ColumnLabels[c], "label", "middle"));
        }
        XElement? mark = null;
        for (var r = 0; r < RowLabels.Count; r++)
        {
            var y = Top + (r * CellHeight);
            content.Add(Svg.Text(left - 10, y + (CellHeight / 2) + 4, RowLabels[r], "label", "end"));
            for (var c = 0; c < ColumnLabels.Count; c++)
            {
                var x = left + (c * cell);
                var value = At(r, c);
                DrawCell(content, (x, y, cell), value, $"{Rows} {RowLabels[r]}, {Columns} {ColumnLabels[c]}", (min, max));
                if (mark is null && value == best)
                {
                    mark = Svg.Rect(x + 1, y + 1, cell - 4, CellHeight - 4, "best", 3);
                    DrawCaption(content, Top + (RowLabels.Count * CellHeight) + 22, isNarrow: width < 500, best, (r, c));
                }
            }
        }
        content.Add(mark!);
        return Top + (RowLabels.Count * CellHeight) + (width < 500 ? 50 : 32);
    }

    private void DrawCaption(List<XElement> content, double y, bool isNarrow, double best, (int Row, int Column) at)
    {
        var value = $"Frame: the best value, {Value.Value(best)}";
        var place = $"at {Columns.ToLowerInvariant()} {ColumnLabels[at.Column]}, {Rows.ToLowerInvariant()} {RowLabels[at.Row]}";
        content.Add(Svg.Text(0, y, isNarrow ? value : $"{value} {place}", "legend"));
        if (isNarrow)
        {
            content.Add(Svg.Text(0, y + 18, place, "legend"));
        }
    }

    private void DrawCell(List<XElement> content, (double X, double Y, double Width) at, double? value, string where, (double Min, double Max) range)
    {
        var rect = Svg.Rect(at.X, at.Y, at.Width - 2, CellHeight - 2, value is null ? "cell missing" : "cell", 3);
        if (value is not { } known)
        {
            content.Add(rect.Titled($"{where}: not measured"));
            content.Add(Svg.Text(at.X + (at.Width / 2) - 1, at.Y + (CellHeight / 2) + 4, Numbers.None, "label", "middle"));
            return;
        }
        var (color, isDark) = Color(range.Max > range.Min ? (known - range.Min) / (range.Max - range.Min) : 1);
        rect.Add(new XAttribute("fill", color));
        content.Add(rect.Titled($"{where}: {Value.Value(known)}"));
        var label = Numbers.Significant(known);
        if (Svg.WidthOf(label) > at.Width - 4 && Math.Abs(known) >= 1000)
        {
            label = Numbers.Fixed(known / 1000, known >= 100_000 ? 0 : 1) + "k";
        }
        content.Add(Svg.Text(
            at.X + (at.Width / 2) - 1, at.Y + (CellHeight / 2) + 4, label, isDark ? "cell-text light" : "cell-text dark", "middle"));
    }

    private static (string Color, bool IsDark) Color(double share)
    {
        var place = Math.Clamp(share, 0, 1) * (Ramp.Length - 1);
        var i = Math.Min(Ramp.Length - 2, (int)place);
        var (from, to, t) = (Ramp[i], Ramp[i + 1], place - i);
        int Mix(int a, int b) => (int)Math.Round(a + ((b - a) * t));
        var (r, g, b) = (Mix(from.R, to.R), Mix(from.G, to.G), Mix(from.B, to.B));
        // Below this luminance, white text has more contrast than dark text.
        return (string.Create(CultureInfo.InvariantCulture, $"#{r:x2}{g:x2}{b:x2}"), Luminance(r, g, b) < 0.2);
    }

    /// <summary>Returns the relative luminance, from 0 to 1, as the Web Content Accessibility Guidelines define it.</summary>
    private static double Luminance(int r, int g, int b)
    {
        static double Linear(int part) => part <= 10 ? part / 255.0 / 12.92 : Math.Pow(((part / 255.0) + 0.055) / 1.055, 2.4);
        return (0.2126 * Linear(r)) + (0.7152 * Linear(g)) + (0.0722 * Linear(b));
    }

    private double? At(int row, int column) =>
        row < Values.Count && column < Values[row].Count && Values[row][column] is { } value && double.IsFinite(value) ? value : null;

    private IEnumerable<double> Known() =>
        from row in Enumerable.Range(0, RowLabels.Count)
        from column in Enumerable.Range(0, ColumnLabels.Count)
        let value = At(row, column)
        where value is not null
        select value.Value;
}
