namespace Billing.Reporting;

/// <summary>Results with latencies.</summary>
internal interface ILatencies
{
    /// <summary>Number of requests that failed during the measurement and are not included in the latencies.</summary>
    long Failed { get; }
}

/// <summary>The statement about failed requests on a page: the reader of a percentile must know
/// what it leaves out.</summary>
internal static class FailedRequests
{
    /// <summary>Adds the statement to a report if requests failed.</summary>
    public static Report AddTo(Report report, long failed) => failed == 0
        ? report
        : report with { Facts = [.. report.Facts, new Fact("Failed requests", Sentence(failed))] };

    /// <summary>Returns the statement.</summary>
    /// <param name="failed">Number of failed requests, above 0.</param>
    public static string Sentence(long failed) =>
        $"{Numbers.Whole(failed)} failed, and are left out of the latencies, which cover answered requests only.";
}
