using Billing.Chaos.Network;

namespace Billing.ChaosTests;

/// <summary>Proxies whose host is gone: nobody acknowledges what is sent to them.</summary>
[Collection(OverBrokers.Name)]
public sealed class VanishedHosts(BrokerStack stack) : Bursts(stack)
{
    [Fact]
    public async Task Calls_in_flight_at_a_host_that_vanishes_are_answered_by_another_proxy_and_paid_once()
    {
        await using var host = new TcpRelay(new Uri(Stack.ProxyAddresses[0]).Port, RelayBehaviour.None);
        using var client = Client(host.Address, Stack.ProxyAddresses[1]);
        var paying = Burst(client);
        await Task.WhenAny(paying);

        host.Vanish();
        // Those above may all have been answered before.
        paying.AddRange(Burst(client));

        await AllArePaidOnceAsync(paying);
        Assert.NotEqual(0, client.Retried);
    }
}
