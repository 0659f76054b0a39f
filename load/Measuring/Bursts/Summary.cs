using Billing.LoadClient;

namespace Billing.Measuring.Bursts;

/// <summary>The figures of the billing prototype's tables, and the percentiles it did not print. Latencies are those of the
/// answered requests, in seconds.</summary>
/// <param name="Count">Number of requests sent.</param>
/// <param name="Ok">Number of requests answered; for payments, accepted.</param>
/// <param name="Declined">Number of payments declined.</param>
/// <param name="Errors">Number of requests that failed.</param>
/// <param name="Shortest">The shortest latency of an answered request, in seconds.</param>
/// <param name="Longest">The longest latency of an answered request, in seconds.</param>
/// <param name="Average">The average latency of the answered requests, in seconds.</param>
/// <param name="P50">The median latency of the answered requests, in seconds.</param>
/// <param name="P99">The 99th percentile of the latency of the answered requests, in seconds.</param>
internal sealed record Summary(
    int Count, int Ok, int Declined, int Errors, double Shortest, double Longest, double Average, double P50, double P99)
{
    /// <summary>The combined figures of several clients.</summary>
    public static Summary Of(IReadOnlyCollection<RequestFigures> clients)
    {
        var sorted = clients.SelectMany(c => c.LatenciesUs).Order().ToArray();
        var errors = clients.Sum(c => c.Errors.Values.Sum());
        return new Summary(
            sorted.Length + errors, clients.Sum(c => c.Ok), clients.Sum(c => c.Declined), errors,
            Seconds(sorted.FirstOrDefault()), Seconds(sorted.LastOrDefault()),
            sorted.Length == 0 ? 0 : Seconds(sorted.Average()), Seconds(NearestRank.Percentile(sorted, 0.50)), Seconds(NearestRank.Percentile(sorted, 0.99)));
    }

    /// <summary>The figures of one kind of request of several clients that started together, with latencies measured from the start
    /// of the burst instead of from each call.</summary>
    /// <param name="results">The clients' results.</param>
    /// <param name="kind">Selects the kind of request from a client's result.</param>
    /// <returns>The figures; without latencies if the clients did not send everything at once.</returns>
    public static Summary SinceStart(IReadOnlyCollection<LoadResult> results, Func<LoadResult, RequestFigures> kind)
    {
        var burst = FirstStartUnixUs(results);
        return Of([.. results.Select(result =>
        {
            var figures = kind(result);
            var late = result.StartedUnixUs - burst;
            return figures with { LatenciesUs = [.. figures.SinceStartUs.Select(us => us + late)] };
        })]);
    }

    /// <summary>The time from the first start of several clients to their last end, in seconds.</summary>
    public static double SpanS(IReadOnlyCollection<LoadResult> results) =>
        (results.Max(r => r.EndedUnixUs) - FirstStartUnixUs(results)) / 1e6;

    // The start of the burst of several clients, in microseconds since the Unix epoch.
    private static long FirstStartUnixUs(IReadOnlyCollection<LoadResult> results) => results.Min(r => r.StartedUnixUs);

    private static double Seconds(double microseconds) => microseconds / 1e6;
}
