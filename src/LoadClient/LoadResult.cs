using System.Text.Json.Serialization;

namespace Billing.LoadClient;

/// <summary>The measurements of one client.</summary>
/// <param name="StartedUnixUs">When the first request was sent, in microseconds since the Unix epoch.</param>
/// <param name="EndedUnixUs">When the last answer arrived, in microseconds since the Unix epoch.</param>
/// <param name="Retried">Number of retries of calls.</param>
/// <param name="Payments">The figures of the payments.</param>
/// <param name="Balances">The figures of the balance checks.</param>
/// <param name="PaymentsAnswered">Number of payments accepted or declined, including the warm-up: as many as in the journal.
/// </param>
public sealed record LoadResult(
    long StartedUnixUs, long EndedUnixUs, long Retried, RequestFigures Payments, RequestFigures Balances,
    long PaymentsAnswered);

/// <summary>The figures of one kind of request.</summary>
/// <param name="Ok">Number of requests answered; for payments, accepted.</param>
/// <param name="Declined">Number of payments declined.</param>
/// <param name="Errors">Number of failed requests, by "STATUS: detail".</param>
/// <param name="LatenciesUs">The latency of each answered request, from its call, in microseconds.</param>
public sealed record RequestFigures(int Ok, int Declined, IReadOnlyDictionary<string, int> Errors, IReadOnlyList<long> LatenciesUs)
{
    /// <summary>The time from the client's start to each answer, in microseconds: all requests of a burst are due at that moment,
    /// however late the loop sends them. Empty if they are not sent at once.</summary>
    public IReadOnlyList<long> SinceStartUs { get; init; } = [];
}

/// <summary>Serialises results without reflection.</summary>
[JsonSerializable(typeof(LoadResult))]
public sealed partial class LoadJson : JsonSerializerContext;
