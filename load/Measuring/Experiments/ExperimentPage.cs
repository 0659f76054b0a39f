using System.Globalization;
using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Experiments;

/// <summary>The page of every experiment.</summary>
internal static class ExperimentPage
{
    public static Report Of(ExperimentResult result) => new()
    {
        Title = result.Title,
        Subtitle = Verdict(result),
        Facts =
        [
            .. Facts.Of(result.Run),
            .. result.HasStore ? [StoreAudit.Fact(result.Audits)] : Array.Empty<Fact>(),
            .. result.Source is { } source ? [source.Fact()] : Array.Empty<Fact>(),
            .. result.Facts,
            new Fact(
                "Figures",
                "n measurements each: the median and, in brackets, the minimum and the maximum; "
                    + "a ratio compares the sides round by round, and is a verdict from five rounds on, "
                    + "with its range as the interval (94 % for five)"),
        ],
        Sections = [.. result.Sections.Select(SectionOf)],
    };

    /// <summary>Formats a value of a figure.</summary>
    public static string Text(Figure figure, double value) =>
        figure.Decimals is { } decimals ? Numbers.Fixed(value, decimals) : Numbers.Significant(value);

    private static string Verdict(ExperimentResult result)
    {
        var verdicts = result.Sections.Where(s => s.Compared is not null)
            .SelectMany(section => Compared(section).Select(c =>
                $"{c.Row.Case}, {c.Row.Side}: {section.Compared!.Name} {c.Pairs.Text} times that of {c.First.Side}."))
            .ToList();
        return result.Sections.Count == 0 ? "Nothing was measured." : string.Join(' ', verdicts.Take(6));
    }

    // The rows that are compared with the first side of their case.
    private static IEnumerable<(ResultRow Row, ResultRow First, Pairs Pairs)> Compared(ResultSection section) =>
        from sides in section.Rows.GroupBy(row => row.Case)
        from row in sides.Skip(1)
        select (row, sides.First(), Pairs.Of(sides.First(), row, section.Compared!));

    private static Section SectionOf(ResultSection section) => new(
        section.Title,
        [
            .. section.Text.Length > 0 ? [new Prose(section.Text)] : Array.Empty<Block>(),
            TableOf(section),
            .. ChartOf(section) is { } chart ? [chart] : Array.Empty<Block>(),
            .. Failures(section) is { Length: > 0 } failures ? [new Prose(failures)] : Array.Empty<Block>(),
        ]);

    private static Table TableOf(ResultSection section)
    {
        var isSideShown = section.Rows.DistinctBy(row => row.Side).Count() > 1;
        var columns = section.Columns.Where(figure => section.Rows.Any(row => row.Of(figure) is not null)).ToList();
        var pairs = section.Compared is null ? [] : Compared(section).ToDictionary(c => c.Row, c => c.Pairs);
        return new Table
        {
            Columns =
            [
                new Column(section.CaseHeading, Align.Left),
                .. isSideShown ? [new Column("Side", Align.Left)] : Array.Empty<Column>(),
                new Column("n"),
                .. section.Compared is { } compared
                    ? [new Column($"{compared.Name}, ratio to the first side")]
                    : Array.Empty<Column>(),
                .. columns.SelectMany(figure => IsPublished(section, figure)
                    ? [new Column(
                        figure.Name, Unit: figure.Unit), new Column("published", Unit: figure.Unit, IsPaper: true)]
                    : new[] { new Column(figure.Name, Unit: figure.Unit) }),
            ],
            Rows =
            [
                .. section.Rows.Select(row => new Row(
                [
                    row.Case,
                    .. isSideShown ? [row.Side] : Array.Empty<Cell>(),
                    row.Rounds.Count.ToString(CultureInfo.InvariantCulture),
                    .. section.Compared is null
                        ? Array.Empty<Cell>()
                        : [pairs.GetValueOrDefault(row)?.Text ?? Numbers.None],
                    .. columns.SelectMany(figure => IsPublished(section, figure)
                        ? [Measured(row, figure), Published(row, figure)]
                        : new[] { Measured(row, figure) }),
                ])
                {
                    IsHighlighted = row.IsBest,
                }),
            ],
            Note = section.Note,
        };
    }

    private static bool IsPublished(ResultSection section, Figure figure) =>
        section.Rows.Any(row => row.Published.ContainsKey(figure.Id));

    private static Cell Measured(ResultRow row, Figure figure) => row.Of(figure) is not { } spread ? Numbers.None
        : figure.Decimals is { } decimals ? Numbers.Around(spread, decimals) : Numbers.Around(spread);

    private static Cell Published(ResultRow row, Figure figure) =>
        row.Published.TryGetValue(figure.Id, out var value) ? Text(figure, value) : Numbers.None;

    private static Chart? ChartOf(ResultSection section)
    {
        var figure = section.Charted ?? section.Columns[0];
        var (title, axis) = ($"{section.Title}: {figure.Name}", new Axis(figure.Name, figure.Unit));
        var sides = section.Rows.GroupBy(row => row.Side).ToList();
        var cases = section.Rows.Select(row => row.Case).Distinct().ToList();
        return section.Chart switch
        {
            ChartKind.None => null,
            ChartKind.Heat => HeatMapOf(section, figure, title, axis),
            ChartKind.Lines => new LineChart(
                title, new Axis(section.CaseHeading), axis,
                [
                    .. sides.Select(side => new Series(
                        side.Key,
                        [
                            .. side.Where(r => r.Position is not null && r.Of(figure) is not null)
                                .Select(r => (r.Position!.Value, r.Of(figure)!.Median)),
                        ])),
                ]),
            _ => new BarChart(
                title, axis, cases,
                [
                    .. sides.Select(side => new Bars(
                        side.Key, [.. cases.Select(name => side.FirstOrDefault(row => row.Case == name)?.Of(figure))])),
                    .. sides.Where(side => side.Any(row => row.Published.ContainsKey(figure.Id)))
                        .Select(side => Bars.Of(
                            "published, " + side.Key, cases.Select(name => side.FirstOrDefault(row => row.Case == name)
                                ?.Published.GetValueOrDefault(figure.Id, double.NaN) ?? double.NaN))),
                ]),
        };
    }

    private static HeatMap HeatMapOf(ResultSection section, Figure figure, string title, Axis axis)
    {
        var cells = section.Rows.Where(row => row.Position is not null && row.Across is not null)
            .ToLookup(row => (row.Position!.Value, row.Across!.Value));
        var (down, across) = (
            section.Rows.Select(r => r.Position ?? 0).Distinct().Order().ToList(),
            section.Rows.Select(r => r.Across ?? 0).Distinct().Order().ToList());
        return new HeatMap(
            title, "in flight on each connection", [.. across.Select(Numbers.Whole)], "connections",
            [.. down.Select(Numbers.Whole)], axis,
            [.. down.Select(y => across.Select(x => cells[(y, x)].FirstOrDefault()?.Of(figure)?.Median).ToList())]);
    }

    private static string Failures(ResultSection section) =>
        string.Join(' ', section.Rows.Where(row => row.Rounds.Any(m => m.Failed > 0)).Select(row =>
            $"{row.Case}, {row.Side}: failed "
            + string.Join(", ", row.Rounds.SelectMany(m => m.Errors).GroupBy(e => e.Key, e => e.Value)
                .Select(e => $"{Numbers.Whole(e.Sum())} x {e.Key.TrimEnd('.')}")) + "."));
}
