namespace Billing.Client.Load;

/// <summary>The figures of the billing prototype's tables, and the percentiles it did not print. Times in seconds.
/// </summary>
/// <param name="Count">Requests sent.</param>
/// <param name="Ok">Answered; for payments, accepted.</param>
/// <param name="Declined">Answered with a decline.</param>
/// <param name="Errors">Failed.</param>
/// <param name="Shortest">Of the answered ones.</param>
/// <param name="Longest">Of the answered ones.</param>
/// <param name="Average">Of the answered ones.</param>
/// <param name="P50">Half of the answered ones took at most this.</param>
/// <param name="P99">99 of 100 answered ones took at most this.</param>
public sealed record Summary(
    int Count, int Ok, int Declined, int Errors, double Shortest, double Longest, double Average, double P50, double P99)
{
    /// <summary>The figures of several clients taken together.</summary>
    public static Summary Of(IReadOnlyCollection<RequestFigures> clients)
    {
        var sorted = clients.SelectMany(c => c.LatenciesUs).Order().ToArray();
        var errors = clients.Sum(c => c.Errors.Values.Sum());
        return new Summary(
            sorted.Length + errors, clients.Sum(c => c.Ok), clients.Sum(c => c.Declined), errors,
            Seconds(sorted.FirstOrDefault()), Seconds(sorted.LastOrDefault()),
            sorted.Length == 0 ? 0 : Seconds(sorted.Average()), Seconds(NearestRank.Percentile(sorted, 0.50)), Seconds(NearestRank.Percentile(sorted, 0.99)));
    }

    private static double Seconds(double microseconds) => microseconds / 1e6;
}
