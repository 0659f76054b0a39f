using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.UnitTests.Reporting;

/// <summary>One example of every element of a report.</summary>
internal static class Everything
{
    /// <summary>Charts in which all texts are the same.</summary>
    public static IReadOnlyList<Chart> Charts(string text, double value = 12)
    {
        var axis = new Axis(text, text);
        return
        [
            new LineChart(text, axis, axis, new Series(text, [(1, value), (2, 3)]), new Series(
                text, [(1, 2), (3, value)])) { Note = text },
            new LineChart(
                text, axis, axis with { IsLogarithmic = true },
                new Series(text, [(1, value), (2, 3), (3, 0), (4, -1)])),
            new BarChart(
                text, axis, [text, "b"], new Bars(text, [new Spread(value, 1, 20), null]), Bars.Of(text, [1, value])),
            new HeatMap(text, text, [text, "2"], text, [text, "4"], axis, [[value, 2], [null, 4]]),
            new StackedBars(text, axis, [text, "b"], new Stack(text, value, 2), new Stack("other", 1, 1)),
        ];
    }

    /// <summary>Charts without data.</summary>
    public static IReadOnlyList<Chart> EmptyCharts()
    {
        var axis = new Axis("x");
        return
        [
            new LineChart("empty", axis, axis),
            new LineChart("no points", axis, axis, new Series("a", [])),
            new LineChart("no numbers", axis, axis, new Series("a", [(1, double.NaN), (double.PositiveInfinity, 2)])),
            new LineChart(
                "nothing above zero", axis, axis with { IsLogarithmic = true }, new Series("a", [(1, 0), (2, -1)])),
            new BarChart("no categories", axis, [], Bars.Of("a", [])),
            new BarChart("no values", axis, ["a"], new Bars("a", [null])),
            new HeatMap("no cells", "c", [], "r", [], axis, []),
            new HeatMap("nothing measured", "c", ["1"], "r", ["1"], axis, [[null]]),
            new StackedBars("no bars", axis, ["a"]),
            new StackedBars("only zeroes", axis, ["a"], new Stack("b", 0)),
        ];
    }

    /// <summary>A report in which all texts are the same.</summary>
    public static Report Report(string text) => new()
    {
        Title = text,
        Subtitle = text,
        Facts = [new Fact(text, text), new Fact("long", new string('a', 50) + text, IsCode: true)],
        Sections =
        [
            new Section(text, new Prose(text + "\n\n" + text), new KeyFigures(new KeyFigure(text, text, text))),
            new Section("", [.. Charts(text)]),
            new Section(text, new Table
            {
                Title = text,
                Note = text,
                Columns =
                [
                    new Column(text, Align.Left), new Column(text, Unit: text, IsPaper: true), new Column("third"),
                ],
                Rows = [new Row(text, new Cell(text, true)), new Row(text, text, text) { IsHighlighted = true }],
            }),
        ],
    };
}
