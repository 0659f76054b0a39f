using System.Text.Json;
using Billing.Messaging.Telemetry;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Where records and requests wait within librdkafka, from the statistics that it issues each
/// <see cref="KafkaOptions.StatisticsInterval"/>.
/// <see href="https://github.com/confluentinc/librdkafka/blob/master/STATISTICS.md"/></summary>
internal static class ClientStatistics
{
    private const string OfProxies = "billing-proxy-";
    private static readonly int IdLength = ProxyId.Create(TimeProvider.System).Length;

    // Until a record is in a request, until the request is in the socket, and until its response is there.
    private static readonly (string Wait, string Name)[] Waits =
    [
        ("queue", "int_latency"), ("socket", "outbuf_latency"), ("round_trip", "rtt"),
    ];
    private static readonly (string Percentile, string Name)[] Percentiles = [("0.5", "p50"), ("0.99", "p99")];

    /// <summary>Publishes the waits of a client as metrics; of several brokers the longest counts.</summary>
    public static void Record(string json)
    {
        foreach (var wait in Parse(json))
        {
            MessagingMetrics.Waited(wait.Client, wait.Wait, wait.Percentile, wait.Seconds);
        }
    }

    internal static IEnumerable<(string Client, string Wait, string Percentile, double Seconds)> Parse(string json)
    {
        using var document = JsonDocument.Parse(json);
        var client = NameOf(document.RootElement.GetProperty("client_id").GetString()!);
        var brokers = document.RootElement.GetProperty("brokers").EnumerateObject()
            .Select(broker => broker.Value).ToList();
        foreach (var (wait, name) in Waits)
        {
            var measured = brokers.Where(
                broker => broker.TryGetProperty(name, out var window) && window.GetProperty("cnt").GetInt64() > 0)
                .Select(broker => broker.GetProperty(name)).ToList();
            foreach (var (percentile, member) in measured.Count > 0 ? Percentiles : [])
            {
                yield return (
                    client, wait, percentile, measured.Max(window => window.GetProperty(member).GetInt64()) / 1e6);
            }
        }
    }

    // With the id of each proxy the number of series would only grow.
    private static string NameOf(string client) =>
        client.StartsWith(OfProxies, StringComparison.Ordinal) && client.Length >= OfProxies.Length + IdLength
            ? client.Remove(OfProxies.Length, IdLength).Insert(OfProxies.Length, "{proxy}")
            : client;
}
