using System.Net;
using System.Net.Sockets;
using Billing.Client;
using Billing.LocalStack.Processes;

namespace Billing.UnitTests.Client;

/// <summary>Proxies behind one name, <c>dns:///name:port</c>, over real connections;
/// what DNS answers is up to each test.</summary>
public sealed class NamedProxiesTests : IAsyncDisposable
{
    private readonly FreePorts _ports = new();
    private readonly ManualTime _time = new();
    private readonly List<ScriptedProxy> _proxies = [];
    private readonly int _port;
    private IPAddress[] _addresses = [];
    private int _lookUps;

    public NamedProxiesTests()
    {
        _port = _ports.Take();
        // The server checks deadlines with the real clock.
        _time.Set(TimeProvider.System.GetUtcNow() - _time.GetUtcNow());
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var proxy in _proxies)
        {
            await proxy.DisposeAsync();
        }
        _ports.Dispose();
    }

    [Fact]
    public async Task Calls_and_streams_go_to_each_address_of_a_name_in_turn()
    {
        await StartAsync("127.0.0.1", "127.0.0.2");
        using var client = Client();

        await PayAsync(client, 10);
        for (var stream = 0; stream < 4; stream++)
        {
            await client.PayAllAsync(new[] { NewPayment() }.ToAsyncEnumerable())
                .ToListAsync(TestContext.Current.CancellationToken);
        }

        Assert.All(_proxies, proxy => Assert.Equal(5, proxy.Requests.Count));
        Assert.All(_proxies, proxy => Assert.Equal(7, proxy.HeadersOf("traceparent").Count()));
        Assert.Equal(1, _lookUps);
    }

    [Fact]
    public async Task An_address_that_a_name_no_longer_has_is_not_called_any_more()
    {
        await StartAsync("127.0.0.1", "127.0.0.2");
        using var client = Client();
        await PayAsync(client, 10);

        await _proxies[1].DisposeAsync();
        _addresses = [IPAddress.Parse("127.0.0.1")];
        _time.Advance(TimeSpan.FromSeconds(1));
        // The call that finds it away goes to the other one, and has the name looked up again.
        await PayAsync(client, 10);
        var retried = client.Retried;
        await PayAsync(client, 10);

        Assert.InRange(retried, 1, 2);
        Assert.Equal(retried, client.Retried);
        Assert.Equal(25, _proxies[0].Requests.Count);
        Assert.Equal(2, _lookUps);
    }

    [Fact]
    public async Task An_address_that_is_away_is_skipped_while_its_name_still_has_it()
    {
        await StartAsync("127.0.0.1");
        _addresses = [IPAddress.Parse("127.0.0.1"), IPAddress.Parse("127.0.0.2")];
        using var client = Client();

        await PayAsync(client, 30);

        // The calls until its circuit opens.
        Assert.Equal(4, client.Retried);
        Assert.Equal(30, _proxies[0].Requests.Count);
    }

    [Fact]
    public async Task A_new_address_is_called_after_half_a_minute()
    {
        await StartAsync("127.0.0.1", "127.0.0.2");
        _addresses = _addresses[..1];
        using var client = Client();
        await PayAsync(client, 4);
        _addresses = [IPAddress.Parse("127.0.0.1"), IPAddress.Parse("127.0.0.2")];
        await PayAsync(client, 4);
        Assert.Empty(_proxies[1].Requests);

        _time.Advance(TimeSpan.FromSeconds(30));
        await PayAsync(client, 5);

        Assert.NotEmpty(_proxies[1].Requests);
    }

    [Fact]
    public async Task A_name_whose_answer_is_empty_keeps_the_addresses_that_it_had()
    {
        await StartAsync("127.0.0.1");
        using var client = Client();
        await PayAsync(client, 2);

        _addresses = [];
        _time.Advance(TimeSpan.FromSeconds(30));
        await PayAsync(client, 2);
        _time.Advance(TimeSpan.FromSeconds(1));
        await PayAsync(client, 2);

        Assert.Equal(6, _proxies[0].Requests.Count);
        Assert.Equal(3, _lookUps);
        using var hopeless = Client(options => options.RetriesMax = 0);
        Assert.EndsWith(
            ": the answer is empty", Expect.Unknown(await hopeless.PayAsync(NewPayment())).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_name_without_addresses_is_unknown_with_its_setting_named_and_is_looked_up_again()
    {
        await StartAsync("127.0.0.1");
        using var client = Client(options =>
        {
            options.RetryDelay = TimeSpan.FromSeconds(1);
            options.Resolve = (_, _) =>
                ++_lookUps < 3
                    ? Task.FromException<IPAddress[]>(new SocketException((int)SocketError.HostNotFound))
                    : Task.FromResult(_addresses);
        });
        using var hopeless = Client(options => (options.Resolve, options.RetriesMax) =
            ((_, _) => Task.FromException<IPAddress[]>(new SocketException((int)SocketError.HostNotFound)), 0));

        var paying = client.PayAsync(NewPayment());
        await _time.RunToEndAsync(paying);
        var unknown = Expect.Unknown(await hopeless.PayAsync(NewPayment()));

        Expect.Accepted(await paying);
        Assert.StartsWith(
            "The attempt was not sent: no name in Billing:Client:Proxies has an address: ",
            unknown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_look_up_that_hangs_is_given_up_at_the_deadline()
    {
        using var client = Client(options => options.Resolve = (_, _) => new TaskCompletionSource<IPAddress[]>().Task);

        var call = client.PayAsync(NewPayment());
        await _time.RunToEndAsync(call);
        var stream = client.PayAllAsync(new[] { NewPayment() }.ToAsyncEnumerable())
            .ToListAsync(TestContext.Current.CancellationToken).AsTask();
        await _time.RunToEndAsync(stream);

        const string Message =
            "The attempt was not sent: the names in Billing:Client:Proxies are still being looked up.";
        Assert.Equal(Message, Expect.Unknown(await call).Message);
        Assert.Equal(Message, Expect.Unknown(Assert.Single(await stream)).Message);
    }

    /// <summary>Not for the address: the certificate has none of 127.0.0.2.</summary>
    [Fact]
    public async Task The_certificate_of_a_proxy_has_to_be_for_the_name()
    {
        using var certificates = new SelfMadeCertificates();
        _proxies.Add(await ScriptedProxy.StartAsync($"127.0.0.2:{_port}", certificates));
        _addresses = [IPAddress.Parse("127.0.0.2")];
        using var rightly = Client(options => Secure(options, "billing.test"));
        using var wrongly = Client(options => Secure(options, "another.test"));

        Expect.Accepted(await rightly.PayAsync(NewPayment()));
        Expect.Unknown(await wrongly.PayAsync(NewPayment()));
        Assert.Single(_proxies[0].Requests);

        void Secure(BillingClientOptions options, string name)
        {
            certificates.Apply(options.Tls);
            options.Proxies[0] = $"dns:///{name}:{_port}";
            options.DnsPlaintext = false;
            options.Resolve = (_, _) => Task.FromResult(_addresses);
            options.RetriesMax = 0;
        }
    }

    [Fact]
    public async Task The_resolver_of_the_system_is_asked()
    {
        var here = await Dns.GetHostAddressesAsync("localhost", TestContext.Current.CancellationToken);
        await StartAsync(
            [.. here.Select(ip => ip.AddressFamily == AddressFamily.InterNetworkV6 ? $"[{ip}]" : ip.ToString())]);
        using var client = Client(options =>
        {
            options.Proxies[0] = $"dns:///localhost:{_port}";
            options.Resolve = Dns.GetHostAddressesAsync;
        });

        await PayAsync(client, 2 * here.Length);

        Assert.All(_proxies, proxy => Assert.Equal(2, proxy.Requests.Count));
    }

    private static Payment NewPayment() => new(new CardAccount(CardNetwork.Visa, "a"), new Amount(1, "USD"));

    private static async Task PayAsync(BillingClient client, int times)
    {
        for (var call = 0; call < times; call++)
        {
            Expect.Accepted(await client.PayAsync(NewPayment()));
        }
    }

    private async Task StartAsync(params string[] hosts)
    {
        foreach (var host in hosts)
        {
            _proxies.Add(await ScriptedProxy.StartAsync($"{host}:{_port}"));
        }
        _addresses = [.. hosts.Select(host => IPAddress.Parse(host.Trim('[', ']')))];
    }

    private BillingClient Client(Action<BillingClientOptions>? configure = null)
    {
        var options = new BillingClientOptions
        {
            Proxies = { $"dns:///billing.test:{_port}" },
            DnsPlaintext = true,
            // On a clock that stands still.
            RetryDelay = TimeSpan.Zero,
            CircuitCallsMin = 4,
            Resolve = (name, _) =>
            {
                Assert.Equal("billing.test", name);
                _lookUps++;
                return Task.FromResult(_addresses);
            },
        };
        configure?.Invoke(options);
        return new BillingClient(options, _time);
    }
}
