using Billing.Measuring.Profiling;

namespace Billing.UnitTests.Measuring.Profiling;

public sealed class ClientWaitsTests
{
    [Fact]
    public void The_longest_waits_of_a_roles_processes_are_parsed_for_each_client()
    {
        const string Name = "billing_kafka_client_wait_seconds";
        const string Scope = "otel_scope_name=\"Billing.Messaging\"";
        const string Client = "messaging_client_id=\"billing-proxy-{proxy}\"";
        const string first =
            $$"""
            # TYPE {{Name}} gauge
            {{Name}}{{{Scope}},{{Client}},quantile="0.5",wait="queue"} 0.001 1795396506247
            {{Name}}{{{Scope}},{{Client}},quantile="0.99",wait="queue"} 0.02 1795396506247
            up 1
            """;
        const string second =
            $$"""
            {{Name}}{{{Client}},quantile="0.5",wait="queue"} 0.003
            {{Name}}{{{Client}},quantile="0.99",wait="queue"} 0.01
            """;

        var client = Assert.Single(ClientWaits.Parse([("proxy", first), ("proxy", second), ("payments", "up 1")]));

        Assert.Equal(new ClientWaits("proxy", "billing-proxy-{proxy}", new WaitMs(3, 20), null, null), client);
    }
}
