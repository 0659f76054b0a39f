using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>One bar that consists of parts.</summary>
/// <param name="Values">One value for each part, zero or above.</param>
public sealed record Stack(string Label, params IReadOnlyList<double> Values);

/// <summary>A chart of horizontal bars, each of which consists of the same parts in the same order, e.g. the steps of a
/// request. Every bar has the full length, so that shares can be compared although the sums differ widely; the numbers
/// in and after the bars are the values.</summary>
/// <param name="Axis">The measured quantity.</param>
/// <param name="Parts">The names of the parts, from the left.</param>
/// <param name="Bars">The bars, from the top.</param>
public sealed record StackedBars(string Title, Axis Axis, IReadOnlyList<string> Parts, params IReadOnlyList<Stack> Bars)
    : Chart(Title)
{
    // A narrower part has no room for its number.
    private const double LabelledShare = 0.07;

    internal override bool HasData => Bars.Any(bar => Total(bar) > 0);

    internal override IEnumerable<XElement> Draw() =>
        [.. Html.Legend(Parts, Axis.Title), .. Bars.Select(bar => Html.Bars(bar.Label, [PartsOf(bar)]))];

    private IReadOnlyList<XElement> PartsOf(Stack bar)
    {
        var total = Math.Max(double.Epsilon, Total(bar));
        return
        [
            .. Parts.Zip(bar.Values).Select((part, i) =>
            {
                var share = Counted(part.Second) / total;
                var label = Numbers.Fixed(part.Second, Numbers.Decimals([total]));
                return Html.Bar(
                    i, share, $"{part.First}: {Axis.Value(part.Second)}", share < LabelledShare ? "" : label);
            }),
            Html.Element("span", "value", Axis.Value(Total(bar))),
        ];
    }

    private static double Total(Stack bar) => bar.Values.Sum(Counted);

    private static double Counted(double value) => double.IsFinite(value) && value > 0 ? value : 0;
}
