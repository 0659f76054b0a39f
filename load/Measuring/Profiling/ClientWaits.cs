using System.Text.RegularExpressions;
using Billing.Measuring.Processes;

namespace Billing.Measuring.Profiling;

/// <summary>How long records and requests waited within a Kafka client of a role, over the last seconds of a load; of several processes the
/// longest. Times are in milliseconds; null if nothing was sent.</summary>
/// <param name="Role">The role of its program.</param>
/// <param name="Client">Its client id.</param>
/// <param name="Queue">Until a record was in a request: linger, and the requests before it.</param>
/// <param name="Socket">Until the request was written to the socket.</param>
/// <param name="RoundTrip">From then on until the broker's answer.</param>
internal sealed partial record ClientWaits(string Role, string Client, WaitMs? Queue, WaitMs? Socket, WaitMs? RoundTrip)
{
    private const string Instrument = "billing_kafka_client_wait_seconds{";

    /// <summary>The setting with which services publish these times every two seconds.</summary>
    public static KeyValuePair<string, string> Setting { get; } = new("Billing__Kafka__StatisticsInterval", "00:00:02");

    /// <summary>Parses the metrics that services expose in Prometheus's text format.</summary>
    /// <param name="services">The role of each service and its metrics.</param>
    public static IReadOnlyList<ClientWaits> Parse(IEnumerable<(string Role, string Metrics)> services) =>
    [
        .. services.SelectMany(service => service.Metrics.Split('\n')
                .Where(line => line.StartsWith(Instrument, StringComparison.Ordinal))
                .Select(line => (service.Role, Sample: Sample.Of(line))))
            .GroupBy(s => (s.Role, s.Sample.Client), s => s.Sample)
            .OrderBy(client => client.Key)
            .Select(client => new ClientWaits(
                client.Key.Role, client.Key.Client, Longest(client, "queue"), Longest(client, "socket"), Longest(client, "round_trip"))),
    ];

    private static WaitMs? Longest(IEnumerable<Sample> client, string wait)
    {
        var samples = client.Where(s => s.Wait == wait).ToLookup(s => s.Quantile, s => s.Ms);
        return samples.Count == 0 ? null : new WaitMs(samples["0.5"].Max(), samples["0.99"].Max());
    }

    [GeneratedRegex("([a-z_]+)=\"([^\"]*)\"")]
    private static partial Regex Label();

    private readonly record struct Sample(string Client, string Wait, string Quantile, double Ms)
    {
        public static Sample Of(string line)
        {
            var labels = Label().Matches(line).ToDictionary(m => m.Groups[1].Value, m => m.Groups[2].Value);
            return new Sample(labels["messaging_client_id"], labels["wait"], labels["quantile"], RuntimeUse.ValueOf(line) * 1000);
        }
    }
}

/// <summary>Quantiles of a wait.</summary>
internal sealed record WaitMs(double P50Ms, double P99Ms);
