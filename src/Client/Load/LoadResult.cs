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
    /// <summary>Seconds from the first start of some clients to the last of their ends.</summary>
    public static double SpanS(IReadOnlyCollection<LoadResult> results) =>
        (results.Max(r => r.EndedUnixUs) - results.Min(r => r.StartedUnixUs)) / 1e6;
}

/// <summary>What was measured of one kind of request.</summary>
/// <param name="Ok">Answered; for payments, accepted.</param>
/// <param name="Declined">Answered with a decline.</param>
/// <param name="Errors">Failed, by "STATUS: detail", with how many of each.</param>
/// <param name="LatenciesUs">Microseconds that each answered request took.</param>
public sealed record RequestFigures(int Ok, int Declined, IReadOnlyDictionary<string, int> Errors, IReadOnlyList<long> LatenciesUs);

/// <summary>Serialises results without reflection.</summary>
[JsonSerializable(typeof(LoadResult))]
public sealed partial class LoadJson : JsonSerializerContext;
