namespace Billing.Measuring.Tracing;

/// <summary>Exact percentiles of a list of values, by nearest rank: a percentile is always one of the values.</summary>
internal static class NearestRank
{
    // In binary floating point, share times count may be slightly above the whole number that it should be.
    private const double Rounding = 1e-9;

    /// <summary>The smallest value that at least this share of the values does not exceed;
    /// the type's default for an empty list.</summary>
    /// <param name="sorted">The values, in ascending order.</param>
    /// <param name="share">Above 0, up to 1.</param>
    public static T Percentile<T>(IReadOnlyList<T> sorted, double share)
        where T : struct
    {
        ArgumentNullException.ThrowIfNull(sorted);
        return sorted.Count == 0
            ? default
            : sorted[Math.Clamp((int)Math.Ceiling((share * sorted.Count) - Rounding) - 1, 0, sorted.Count - 1)];
    }
}
