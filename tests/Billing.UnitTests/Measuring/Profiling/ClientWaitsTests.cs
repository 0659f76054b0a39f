using Billing.Measuring.Profiling;

namespace Billing.UnitTests.Measuring.Profiling;

public sealed class ClientWaitsTests
{
    [Fact]
    public void The_longest_waits_of_a_roles_processes_are_parsed_for_each_client()
    {
        const string first =
            """
            # TYPE billing_kafka_client_wait_seconds gauge
            billing_kafka_client_wait_seconds{otel_scope_name="Billing.Messaging",messaging_client_id="billing-proxy-{proxy}",quantile="0.5",wait="queue"} 0.001 1795396506247
            billing_kafka_client_wait_seconds{otel_scope_name="Billing.Messaging",messaging_client_id="billing-proxy-{proxy}",quantile="0.99",wait="queue"} 0.02 1795396506247
            up 1
            """;
        const string second =
            """
            billing_kafka_client_wait_seconds{messaging_client_id="billing-proxy-{proxy}",quantile="0.5",wait="queue"} 0.003
            billing_kafka_client_wait_seconds{messaging_client_id="billing-proxy-{proxy}",quantile="0.99",wait="queue"} 0.01
            """;

        var client = Assert.Single(ClientWaits.Parse([("proxy", first), ("proxy", second), ("payments", "up 1")]));

        Assert.Equal(new ClientWaits("proxy", "billing-proxy-{proxy}", new WaitMs(3, 20), null, null), client);
    }
}
