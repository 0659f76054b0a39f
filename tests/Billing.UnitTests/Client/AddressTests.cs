using System.Net;
using System.Net.Sockets;
using Billing.Chaos.Network;
using Billing.Client;

namespace Billing.UnitTests.Client;

/// <summary>Names with several addresses, of which some answer nothing, over real connections;
/// what DNS answers is up to each test.</summary>
public sealed class AddressTests
{
    [Fact]
    public async Task An_address_that_answers_nothing_does_not_keep_the_next_one_waiting()
    {
        await using var silent = new TcpRelay(0, RelayBehaviour.None);
        silent.Vanish();
        await using var proxy = await ScriptedProxy.StartAsync($"127.0.0.2:{silent.Port}");
        using var client = Client(silent.Port, "127.0.0.1", "127.0.0.2");

        Expect.Accepted(await PayAsync(client, TimeSpan.FromSeconds(3)));

        Assert.Equal(0, client.Retried);
    }

    [Fact]
    public async Task An_address_that_refuses_has_the_next_one_tried_at_once()
    {
        await using var proxy = await ScriptedProxy.StartAsync("127.0.0.3:0");
        using var client = Client(new Uri(proxy.Address).Port, "127.0.0.1", "127.0.0.2", "::1", "127.0.0.3");

        Expect.Accepted(await PayAsync(client, TimeSpan.FromSeconds(5)));

        Assert.Equal(0, client.Retried);
    }

    [Fact]
    public async Task Without_an_address_that_can_be_reached_the_last_failure_is_said()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        using var refused = Client(((IPEndPoint)taken.LocalEndpoint).Port, "127.0.0.2", "127.0.0.3");
        using var none = Client(1);

        Assert.Contains(
            "refused", Expect.Unknown(await PayAsync(refused, TimeSpan.FromSeconds(1))).Message,
            StringComparison.OrdinalIgnoreCase);
        Assert.Contains(
            "'billing.test' has no address",
            Expect.Unknown(await PayAsync(none, TimeSpan.FromSeconds(1))).Message, StringComparison.Ordinal);
    }

    private static Task<Outcome<PaymentAnswer>> PayAsync(BillingClient client, TimeSpan deadline) =>
        client.PayAsync(new Payment(new CardAccount(CardNetwork.Visa, "a"), new Amount(1, "USD")), deadline);

    private static BillingClient Client(int port, params string[] addresses) => new(new BillingClientOptions
    {
        Proxies = { $"http://billing.test:{port}" },
        Resolve = (name, _) =>
        {
            Assert.Equal("billing.test", name);
            return Task.FromResult(Array.ConvertAll(addresses, IPAddress.Parse));
        },
    });
}
