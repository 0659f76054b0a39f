using Billing.Misuse.Watching;

namespace Billing.UnitTests.Misuse;

public sealed class PlacesTests
{
    private const string Metrics = """
        # TYPE billing_proxy_places_used gauge
        billing_proxy_places_used{otel_scope_name="Billing.Proxy"} 12 1700000000000
        billing_proxy_places_limit{otel_scope_name="Billing.Proxy"} 50000 1700000000000
        kestrel_active_connections{network_transport="tcp",server_port="5000"} 3 1700000000000
        kestrel_active_connections{network_transport="tcp",server_port="8080"} 4
        billing_proxy_memory_used_bytes{billing_memory_kind="connections"} 65536
        billing_proxy_memory_used_bytes{billing_memory_kind="requests"} 20480
        billing_proxy_memory_used_bytes{billing_memory_kind="answers"} 1024

        """;

    [Fact]
    public void Places_memory_and_the_connections_of_all_addresses_are_read_from_the_metrics() =>
        Assert.Equal(new Places(12, 7, 21_504), Places.Parse(Metrics));

    [Theory]
    [InlineData("billing_proxy_places_used")]
    [InlineData("kestrel_active_connections")]
    [InlineData("billing_proxy_memory_used")]
    public void Metrics_without_them_are_refused(string name) => Assert.Contains(
        name,
        Assert.Throws<FormatException>(
            () => Places.Parse(Metrics.Replace(name, "other", StringComparison.Ordinal))).Message);
}
