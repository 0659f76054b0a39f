using System.Text.Json.Serialization;

namespace Billing.Client.Load;

/// <summary>What one client measured.</summary>
/// <param name="StartedUnixUs">When the first request was sent, microseconds since the Unix epoch.</param>
/// <param name="EndedUnixUs">When the last answer came.</param>
/// <param name="Retried">Calls that were sent again.</param>
/// <param name="Payments">The payments.</param>
/// <param name="Balances">The balance checks.</param>
/// <param name="PaymentsAnswered">Payments accepted or declined, those of the warm-up included: as many as the journal holds.
/// </param>
public sealed record LoadResult(
    long StartedUnixUs, long EndedUnixUs, long Retried, RequestFigures Payments, RequestFigures Balances,
    long PaymentsAnswered)
{
    /// <summary>When the first of some clients sent its first request, microseconds since the Unix epoch: when their burst began.</summary>
    public static long FirstStartUnixUs(IReadOnlyCollection<LoadResult> results) => results.Min(r => r.StartedUnixUs);

    /// <summary>The figures of one kind of requests of some clients that began together, each answer timed from when the burst began
    /// instead of from its own call.</summary>
    /// <param name="results">What the clients measured.</param>
    /// <param name="kind">Takes the kind from a client's result.</param>
    /// <returns>Without answers where the clients did not send everything at once.</returns>
    public static Summary SinceStart(IReadOnlyCollection<LoadResult> results, Func<LoadResult, RequestFigures> kind)
    {
        var burst = FirstStartUnixUs(results);
        return Summary.Of([.. results.Select(result =>
        {
            var figures = kind(result);
            var late = result.StartedUnixUs - burst;
            return figures with { LatenciesUs = [.. figures.SinceStartUs.Select(us => us + late)] };
        })]);
    }

    /// <summary>Seconds from the first start of some clients to the last of their ends.</summary>
    public static double SpanS(IReadOnlyCollection<LoadResult> results) =>
        (results.Max(r => r.EndedUnixUs) - FirstStartUnixUs(results)) / 1e6;
}

/// <summary>What was measured of one kind of request.</summary>
/// <param name="Ok">Answered; for payments, accepted.</param>
/// <param name="Declined">Answered with a decline.</param>
/// <param name="Errors">Failed, by "STATUS: detail", with how many of each.</param>
/// <param name="LatenciesUs">Microseconds that each answered request took, from when its call was made.</param>
public sealed record RequestFigures(int Ok, int Declined, IReadOnlyDictionary<string, int> Errors, IReadOnlyList<long> LatenciesUs)
{
    /// <summary>Microseconds from when the client began to each answer: the requests of a burst are meant for that moment, however late
    /// the loop gets to them. Empty where they are not sent at once.</summary>
    public IReadOnlyList<long> SinceStartUs { get; init; } = [];
}

/// <summary>Serialises results without reflection.</summary>
[JsonSerializable(typeof(LoadResult))]
public sealed partial class LoadJson : JsonSerializerContext;
