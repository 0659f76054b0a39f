namespace Billing.Reporting;

/// <summary>Results that show how long requests took.</summary>
internal interface ILatencies
{
    /// <summary>Requests that failed while the latencies were measured, and are not in them.</summary>
    long Failed { get; }
}

/// <summary>What a page says of requests that failed: whoever reads a percentile must know what it leaves out.</summary>
internal static class FailedRequests
{
    /// <summary>A report that states them, where there are some.</summary>
    public static Report StatedIn(Report report, long failed) => failed == 0
        ? report
        : report with { Facts = [.. report.Facts, new Fact("Failed requests", Sentence(failed))] };

    /// <summary>That they are in no latency.</summary>
    /// <param name="failed">How many, above 0.</param>
    public static string Sentence(long failed) =>
        $"{Numbers.Whole(failed)} failed, and are left out of the latencies: those are of the answered requests alone.";
}
