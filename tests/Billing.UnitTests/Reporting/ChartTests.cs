using System.Globalization;
using System.Xml.Linq;
using Billing.Reporting.Charts;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Reporting;

public sealed class ChartTests
{
    private const string Hostile = "<script>alert('1')</script> & \"two\" ]]> -->";

    private static readonly XNamespace Svg = "http://www.w3.org/2000/svg";

    [Fact]
    public void A_chart_is_well_formed_SVG_and_its_texts_are_escaped() => Assert.All(Everything.Charts(Hostile), chart =>
    {
        var drawing = XDocument.Parse(chart.ToSvg()).Root!;
        Assert.Equal(Svg + "svg", drawing.Name);
        Assert.Equal(Hostile, drawing.Element(Svg + "title")!.Value);
        Assert.DoesNotContain(drawing.Descendants(), e => e.Name.LocalName == "script");
        Assert.Contains(drawing.Descendants(Svg + "text"), t => t.Value.Contains(Hostile, StringComparison.Ordinal));
    });

    [Fact]
    public void Any_text_gives_a_well_formed_chart()
    {
        var texts = Gen.Choose(0, char.MaxValue).ArrayOf().Select(letters => new string(Array.ConvertAll(letters, l => (char)l)));
        texts.Holds(text => Assert.All(Everything.Charts(text), chart => XDocument.Parse(chart.ToSvg())), tries: 100);
    }

    [Fact]
    public void Any_value_gives_a_well_formed_chart_with_finite_coordinates()
    {
        var values =
            from mantissa in Gen.Choose(-99_999, 99_999)
            from power in Gen.Choose(-12, 12)
            from value in Gen.Elements(mantissa * Math.Pow(10, power), 0, double.NaN, double.PositiveInfinity, double.NegativeInfinity)
            select value;
        values.Holds(value => Assert.All(Everything.Charts("a", value), chart =>
        {
            var text = chart.ToSvg();
            XDocument.Parse(text);
            Assert.DoesNotContain("NaN", text, StringComparison.Ordinal);
            Assert.DoesNotContain("∞", text, StringComparison.Ordinal);
            Assert.DoesNotContain("Infinity", text, StringComparison.Ordinal);
        }));
    }

    [Fact]
    public void A_chart_without_data_says_so() => Assert.All(Everything.EmptyCharts(), chart =>
        Assert.Contains(XDocument.Parse(chart.ToSvg()).Descendants(Svg + "text"), t => t.Value == "No data."));

    [Fact]
    public void A_single_series_has_no_legend_and_each_of_several_has_an_entry()
    {
        var axis = new Axis("x");
        IEnumerable<string> Legend(params string[] names) =>
            from text in new LineChart("t", axis, axis, [.. names.Select(n => new Series(n, [(1, 1), (2, 2)]))]).Draw(Chart.Wide).Descendants(Svg + "text")
            where text.Attribute("class")?.Value == "legend"
            select text.Value;
        Assert.Empty(Legend("alone"));
        Assert.Equal(["one", "other"], Legend("one", "other"));
    }

    [Fact]
    public void The_entries_of_a_legend_do_not_overlap_in_a_narrow_chart()
    {
        var names = Enumerable.Range(1, 9).Select(n => $"series number {n}").ToArray();
        var axis = new Axis("x");
        var drawing = new LineChart("t", axis, axis, [.. names.Select(n => new Series(n, [(1, 1)]))]).Draw(Chart.Narrow);
        var entries = drawing.Descendants(Svg + "text").Where(t => t.Attribute("class")?.Value == "legend")
            .Select(t => (X: (double)t.Attribute("x")!, Y: (double)t.Attribute("y")!, Width: Billing.Reporting.Charts.Svg.WidthOf(t.Value))).ToList();
        Assert.Equal(names.Length, entries.Count);
        Assert.All(entries, e => Assert.InRange(e.X + e.Width, 0, Chart.Narrow));
        Assert.All(entries.Zip(entries.Skip(1)), pair => Assert.True(
            pair.Second.Y > pair.First.Y || pair.Second.X >= pair.First.X + pair.First.Width));
    }

    [Theory]
    [InlineData(false, "4 ms at in flight 2, connections b")]
    [InlineData(true, "1 ms at in flight 1, connections a")]
    public void A_heat_map_marks_the_best_cell_and_names_it(bool leastIsBest, string best)
    {
        var map = new HeatMap("t", "In flight", ["1", "2"], "Connections", ["a", "b"], new Axis("v", "ms"), [[1, 2], [3, 4]]) { LeastIsBest = leastIsBest };
        var drawing = map.Draw(Chart.Wide);
        Assert.Single(drawing.Descendants(Svg + "rect"), r => r.Attribute("class")?.Value == "best");
        Assert.Contains(drawing.Descendants(Svg + "text"), t => t.Value.EndsWith(best.Replace("1 ms", "1.00 ms", StringComparison.Ordinal).Replace("4 ms", "4.00 ms", StringComparison.Ordinal), StringComparison.Ordinal));
    }

    [Fact]
    public void A_whisker_is_drawn_if_repeated_values_differ()
    {
        var chart = new BarChart("t", new Axis("v"), ["a", "b"], new Bars("x", [new(5, 4, 6), new(5, 5, 5)]));
        Assert.Equal(3, chart.Draw(Chart.Wide).Descendants(Svg + "line").Count(l => l.Attribute("class")?.Value == "whisker"));
    }

    [Theory]
    [InlineData(50, false)]
    [InlineData(3000, true)]
    public void Bars_that_could_not_be_seen_beside_others_are_on_a_logarithmic_axis_which_says_so(double other, bool isLogarithmic)
    {
        var drawn = new BarChart("t", new Axis("v"), ["a"], Bars.Of("x", [1]), Bars.Of("y", [other])).Draw(Chart.Wide);

        var shortest = drawn.Descendants(Svg + "rect").Where(r => r.Attribute("class")?.Value.StartsWith("fill", StringComparison.Ordinal) == true && r.Attribute("width")!.Value != "12")
            .Min(r => double.Parse(r.Attribute("width")!.Value, CultureInfo.InvariantCulture));
        Assert.True(shortest > 6);
        Assert.Equal(isLogarithmic, drawn.Descendants(Svg + "text").Any(t => t.Value == "v, logarithmic"));
    }

    [Fact]
    public void A_percentile_curve_rises_to_the_maximum()
    {
        var curve = PercentileChart.Curve("c", [.. Enumerable.Range(1, 1000).Select(n => (double)n)]);
        Assert.Equal((0, 1), curve.Points[0]);
        Assert.Equal(1000, curve.Points[^1].Y);
        Assert.InRange(curve.Points[^1].X, 99.8, 99.99);
        Assert.Contains(curve.Points, p => Math.Abs(p.X - 90) < 1e-6 && Math.Abs(p.Y - 901) < 1);
        Assert.All(curve.Points.Zip(curve.Points.Skip(1)), pair => Assert.True(pair.First.X < pair.Second.X && pair.First.Y <= pair.Second.Y));
    }
}
