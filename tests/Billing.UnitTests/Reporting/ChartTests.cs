using System.Xml.Linq;
using Billing.Reporting;
using Billing.Reporting.Charts;
using Billing.Reporting.Pages;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Reporting;

public sealed class ChartTests
{
    [Fact]
    public void Any_value_gives_a_well_formed_chart_with_finite_coordinates()
    {
        var values =
            from mantissa in Gen.Choose(-99_999, 99_999)
            from power in Gen.Choose(-12, 12)
            from value in Gen.Elements(
                mantissa * Math.Pow(10, power), 0, double.NaN, double.PositiveInfinity, double.NegativeInfinity)
            select value;
        values.Holds(value => Assert.All(Everything.Charts("a", value), chart =>
        {
            var text = Drawn(chart).ToString();
            XDocument.Parse(text);
            Assert.DoesNotContain("NaN", text, StringComparison.Ordinal);
            Assert.DoesNotContain("∞", text, StringComparison.Ordinal);
            Assert.DoesNotContain("Infinity", text, StringComparison.Ordinal);
        }));
    }

    [Fact]
    public void A_chart_without_data_says_so() => Assert.All(Everything.EmptyCharts(), chart =>
        Assert.Contains(Drawn(chart).Descendants("p"), p => p.Value == "No data."));

    [Fact]
    public void A_single_series_has_no_legend_and_each_of_several_has_an_entry()
    {
        var axis = new Axis("x");
        IEnumerable<string> Legend(params string[] names) =>
            Drawn(new LineChart("t", axis, axis, [.. names.Select(n => new Series(n, [(1, 1), (2, 2)]))]))
                .Descendants("span").Select(span => span.Value);
        Assert.Empty(Legend("alone"));
        Assert.Equal(["one", "other"], Legend("one", "other"));
    }

    [Fact]
    public void A_heat_map_frames_the_highest_value()
    {
        var map = new HeatMap(
            "t", "in flight", ["1", "2"], "connections", ["a", "b"], new Axis("v", "ms"), [[1, 2], [null, 4]]);

        Assert.Equal("4.00", Assert.Single(Drawn(map).Descendants("td"), cell =>
            cell.Attribute("class")!.Value.Contains("best", StringComparison.Ordinal)).Value);
    }

    [Fact]
    public void A_bar_is_as_long_as_its_median_and_its_label_has_the_range_if_repeated_values_differ()
    {
        var drawn = Drawn(new BarChart("t", new Axis("v"), ["a", "b"], new Bars("x", [new(5, 4, 6), new(10, 10, 10)])));

        Assert.Equal(
            ["width:36%", "width:72%"],
            drawn.Descendants("i").Select(bar => bar.Attribute("style")?.Value).OfType<string>());
        Assert.Equal(["5.00 (4.00–6.00)", "10.0"], drawn.Descendants("span")
            .Where(span => span.Attribute("class")?.Value == "value").Select(span => span.Value));
    }

    [Fact]
    public void The_parts_of_a_stacked_bar_fill_its_length()
    {
        var drawn = Drawn(
            new StackedBars("t", new Axis("v", "ms"), ["x", "y"], new Stack("a", 1, 3), new Stack("b", 10, 10)));

        Assert.Equal(
            ["width:18%", "width:54%", "width:36%", "width:36%"],
            drawn.Descendants("i").Select(part => part.Attribute("style")?.Value).OfType<string>());
    }

    private static XElement Drawn(Chart chart) =>
        XDocument.Parse(HtmlPage.Of(new Report { Title = "t", Sections = [new Section("", chart)] }))
            .Descendants("figure").Single();
}
