using System.Globalization;

namespace Billing.Reporting;

/// <summary>Numbers as every report writes them: commas between thousands, a point before decimals.</summary>
public static class Numbers
{
    /// <summary>What stands for a number that there is not.</summary>
    public const string None = "–";

    /// <summary>A whole number.</summary>
    public static string Whole(double value) => Fixed(value, 0);

    /// <summary>A number with so many decimals.</summary>
    public static string Fixed(double value, int decimals) => double.IsFinite(value)
        ? value.ToString("N" + decimals.ToString(CultureInfo.InvariantCulture), CultureInfo.InvariantCulture)
        : None;

    /// <summary>A number with three significant digits, or all its digits before the point where it has more.</summary>
    public static string Significant(double value) => Fixed(value, DecimalsFor(Math.Abs(value)));

    /// <summary>So many of something: <c>1 backend</c>, <c>3 backends</c>.</summary>
    public static string Counted(int count, string noun) => $"{Whole(count)} {noun}{(count == 1 ? "" : "s")}";

    /// <summary>What repeats came to: the median and, in brackets, the least and the greatest.</summary>
    public static string Around(Spread spread, int decimals) => Around(spread, value => Fixed(value, decimals));

    /// <summary>The same with three significant digits each.</summary>
    public static string Around(Spread spread) => Around(spread, Significant);

    /// <summary>Decimals with which the largest of some numbers has three significant digits: give it to
    /// <see cref="Fixed"/> for all of them, and the points of a column stand below one another.</summary>
    /// <param name="values">Those that are no numbers are passed over.</param>
    public static int Decimals(IEnumerable<double> values) =>
        DecimalsFor(values.Where(double.IsFinite).Select(Math.Abs).DefaultIfEmpty(0).Max());

    /// <summary>A share of one as a percentage, with as many digits as it takes to tell it from 100 %.</summary>
    public static string Percent(double share) =>
        (share * 100).ToString("0.######", CultureInfo.InvariantCulture) + " %";

    /// <summary>The label of an axis: with the decimals that its step needs.</summary>
    internal static string OnAxis(double value, double step)
    {
        var decimals = 0;
        for (var rest = Math.Abs(step); decimals < 12 && Math.Abs(rest - Math.Round(rest)) > rest * 1e-6; rest *= 10)
        {
            decimals++;
        }
        return Fixed(value == 0 ? 0 : value, decimals);
    }

    private static string Around(Spread spread, Func<double, string> text) => spread.Min == spread.Max
        ? text(spread.Median)
        : $"{text(spread.Median)} ({text(spread.Min)}–{text(spread.Max)})";

    private static int DecimalsFor(double value) => value switch
    {
        0 => 0,
        >= 100 => 0,
        >= 10 => 1,
        >= 0.995 => 2,
        _ => double.IsFinite(value) ? Math.Min(6, 2 - (int)Math.Floor(Math.Log10(value))) : 0,
    };
}
