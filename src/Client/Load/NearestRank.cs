namespace Billing.Client.Load;

/// <summary>Percentiles of values that are all at hand, by nearest rank: each is one of the values.</summary>
public static class NearestRank
{
    // What a share of a count comes to in binary may lie a little above the whole number that it is.
    private const double Rounding = 1e-9;

    /// <summary>The least of the values that at least this share of them do not exceed; the type's zero where there is none.</summary>
    /// <param name="sorted">The values, in ascending order.</param>
    /// <param name="share">Above 0, up to 1.</param>
    public static T Percentile<T>(IReadOnlyList<T> sorted, double share)
        where T : struct
    {
        ArgumentNullException.ThrowIfNull(sorted);
        return sorted.Count == 0 ? default : sorted[Math.Clamp((int)Math.Ceiling((share * sorted.Count) - Rounding) - 1, 0, sorted.Count - 1)];
    }
}
