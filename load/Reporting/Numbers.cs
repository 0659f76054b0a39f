using System.Globalization;

namespace Billing.Reporting;

/// <summary>Formats numbers for reports: commas between thousands, a point before decimals.</summary>
public static class Numbers
{
    /// <summary>The text for a missing number.</summary>
    public const string None = "–";

    /// <summary>Formats a whole number.</summary>
    public static string Whole(double value) => Fixed(value, 0);

    /// <summary>Formats a number with the given number of decimals.</summary>
    public static string Fixed(double value, int decimals) => double.IsFinite(value)
        ? value.ToString("N" + decimals.ToString(CultureInfo.InvariantCulture), CultureInfo.InvariantCulture)
        : None;

    /// <summary>Formats a number with three significant digits, or with all digits before the point
    /// if there are more.</summary>
    public static string Significant(double value) => Fixed(value, DecimalsFor(Math.Abs(value)));

    /// <summary>Formats a count with its noun: <c>1 backend</c>, <c>3 backends</c>.</summary>
    public static string Counted(int count, string noun) => $"{Whole(count)} {noun}{(count == 1 ? "" : "s")}";

    /// <summary>Formats repeated measurements: the median and, in brackets, the minimum and the maximum.</summary>
    public static string Around(Spread spread, int decimals) => Around(spread, value => Fixed(value, decimals));

    /// <summary>Formats repeated measurements with three significant digits each.</summary>
    public static string Around(Spread spread) => Around(spread, Significant);

    /// <summary>Returns the number of decimals with which the largest of some numbers has three significant digits.
    /// With it, <see cref="Fixed"/> aligns the decimal points of a column.</summary>
    /// <param name="values">The numbers; NaN and infinity are ignored.</param>
    public static int Decimals(IEnumerable<double> values) =>
        DecimalsFor(values.Where(double.IsFinite).Select(Math.Abs).DefaultIfEmpty(0).Max());

    /// <summary>Formats the label of a tick with the decimals that the axis's step needs.</summary>
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
