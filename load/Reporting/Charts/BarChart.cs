using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>A series of bars of one colour.</summary>
/// <param name="Name">The name in the legend.</param>
/// <param name="Values">One value for each category; null for none. The bar shows the median;
/// its label also has the minimum and the maximum if they differ.</param>
public sealed record Bars(string Name, IReadOnlyList<Spread?> Values)
{
    /// <summary>Creates bars of values that were measured once each.</summary>
    public static Bars Of(string name, IEnumerable<double> values) =>
        new(name, [.. values.Select(v => new Spread(v, v, v))]);
}

/// <summary>A chart of horizontal bars in groups, each labelled with its value. The bars begin at zero.</summary>
/// <param name="Axis">The measured quantity.</param>
/// <param name="Categories">The groups, from the top.</param>
/// <param name="Groups">The bars in each group, from the top.</param>
public sealed record BarChart(
    string Title, Axis Axis, IReadOnlyList<string> Categories, params IReadOnlyList<Bars> Groups)
    : Chart(Title)
{
    internal override bool HasData => Categories.Count > 0 && Medians.Any();

    private IEnumerable<double> Medians =>
        Groups.SelectMany(g => g.Values).OfType<Spread>().Select(v => v.Median).Where(double.IsFinite);

    internal override IEnumerable<XElement> Draw()
    {
        var longest = Math.Max(double.Epsilon, Medians.Max());
        return [.. Html.Legend([.. Groups.Select(g => g.Name)], Axis.Title), .. Categories.Select(
            (category, c) => Html.Bars(category, Groups.Select((bars, g) =>
                c < bars.Values.Count && bars.Values[c] is { } value && double.IsFinite(value.Median)
                    ? (IReadOnlyList<XElement>)[Html.Bar(
                        g, value.Median / longest, bars.Name, ""), Html.Element("span", "value", Numbers.Around(value))]
                    : [Html.Element("span", null, Numbers.None)])))];
    }
}
