namespace Billing.Measuring.Comparing.Paper;

/// <summary>Response times in seconds, as a row of the prototype's tables.</summary>
/// <param name="Shortest">The minimum of all requests.</param>
/// <param name="Longest">The maximum.</param>
/// <param name="Average">The mean.</param>
internal sealed record PaperRow(double Shortest, double Longest, double Average);

/// <summary>The figures published in <see cref="Sources.Prototype"/>: three clients, three proxies, three brokers, each
/// on a machine of its own (t2.micro: 1 CPU, 1 GB).</summary>
internal static class PaperFigures
{
    /// <summary>The numbers of requests that each of the three clients sent.</summary>
    public static IReadOnlyList<int> Requests { get; } = [5_000, 10_000, 25_000];

    /// <summary>Returns the published figures of a case; null if there are none.</summary>
    public static PaperRow? Of(int requests, int backends, bool jitter) => (requests, backends, jitter) switch
    {
        (5_000, 1, false) => new(1.86, 3.10, 2.38),
        (5_000, 3, false) => new(1.88, 3.17, 2.42),
        (10_000, 1, false) => new(1.74, 4.20, 2.67),
        (10_000, 3, false) => new(1.68, 4.29, 2.65),
        (25_000, 1, false) => new(1.77, 7.89, 4.66),
        (25_000, 3, false) => new(1.66, 7.89, 4.45),
        (5_000, 1, true) => new(3.28, 6.22, 4.53),
        (5_000, 3, true) => new(3.03, 6.36, 4.41),
        (10_000, 1, true) => new(2.92, 8.78, 5.12),
        (10_000, 3, true) => new(2.74, 8.20, 4.64),
        (25_000, 1, true) => new(3.01, 17.12, 9.18),
        (25_000, 3, true) => new(2.69, 14.16, 7.73),
        _ => null,
    };
}
