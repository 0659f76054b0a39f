namespace Billing.Reporting;

/// <summary>What repeats of one measurement came to.</summary>
/// <param name="Median">Half of the repeats lie above it, half below; with an even number the middle between the two.</param>
/// <param name="Min">The smallest.</param>
/// <param name="Max">The largest.</param>
public sealed record Spread(double Median, double Min, double Max)
{
    /// <summary>The spread of some values; all zero where there are none.</summary>
    public static Spread Of(IEnumerable<double> values)
    {
        var sorted = values.Order().ToArray();
        return sorted.Length == 0
            ? new Spread(0, 0, 0)
            : new Spread((sorted[(sorted.Length - 1) / 2] + sorted[sorted.Length / 2]) / 2, sorted[0], sorted[^1]);
    }
}
