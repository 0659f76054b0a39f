namespace Billing.Reporting;

/// <summary>Median and range of a repeated measurement.</summary>
/// <param name="Median">The median; for an even number of values, the mean of the two in the middle.</param>
/// <param name="Min">The minimum.</param>
/// <param name="Max">The maximum.</param>
public sealed record Spread(double Median, double Min, double Max)
{
    /// <summary>Calculates the spread of values; all zero if there are none.</summary>
    public static Spread Of(IEnumerable<double> values)
    {
        var sorted = values.Order().ToArray();
        return sorted.Length == 0
            ? new Spread(0, 0, 0)
            : new Spread((sorted[(sorted.Length - 1) / 2] + sorted[sorted.Length / 2]) / 2, sorted[0], sorted[^1]);
    }
}
