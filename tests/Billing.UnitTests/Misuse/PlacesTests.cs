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

        """;

    [Fact]
    public void Places_and_the_connections_of_all_addresses_are_read_from_the_metrics() =>
        Assert.Equal(new Places(12, 7), Places.Parse(Metrics));

    [Theory]
    [InlineData("billing_proxy_places_used")]
    [InlineData("kestrel_active_connections")]
    public void Metrics_without_them_are_refused(string name) => Assert.Contains(
        name,
        Assert.Throws<FormatException>(
            () => Places.Parse(Metrics.Replace(name, "other", StringComparison.Ordinal))).Message);
}
