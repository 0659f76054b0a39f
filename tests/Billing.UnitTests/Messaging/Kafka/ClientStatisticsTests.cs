using Billing.Messaging.Kafka.Clients;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class ClientStatisticsTests
{
    [Fact]
    public void The_waits_of_a_client_are_the_longest_of_its_brokers_without_a_proxys_id()
    {
        var json = $$$"""
            {
              "client_id": "billing-proxy-{{{ProxyId.Create(TimeProvider.System)}}}-prompt", "type": "producer",
              "brokers": {
                "one:9092/1": {
                  "int_latency": { "p50": 1000, "p99": 9000, "cnt": 7 },
                  "outbuf_latency": { "p50": 0, "p99": 0, "cnt": 0 },
                  "rtt": { "p50": 20, "p99": 30, "cnt": 7 } },
                "two:9092/2": {
                  "int_latency": { "p50": 3000, "p99": 5000, "cnt": 1 },
                  "outbuf_latency": { "p50": 5, "p99": 5, "cnt": 0 },
                  "rtt": { "p50": 10, "p99": 90, "cnt": 1 } },
                "GroupCoordinator": { "throttle": { "cnt": 0 } }
              }
            }
            """;

        Assert.Equal(
            [
                ("billing-proxy-{proxy}-prompt", "queue", "0.5", 0.003),
                ("billing-proxy-{proxy}-prompt", "queue", "0.99", 0.009),
                ("billing-proxy-{proxy}-prompt", "round_trip", "0.5", 0.00002),
                ("billing-proxy-{proxy}-prompt", "round_trip", "0.99", 0.00009),
            ],
            ClientStatistics.Parse(json));
    }
}
