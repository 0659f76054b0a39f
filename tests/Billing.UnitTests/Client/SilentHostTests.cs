using System.Net;
using System.Net.Sockets;
using Billing.Chaos.Network;
using Billing.Client;
using Billing.UnitTests.Proxy;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.UnitTests.Client;

/// <summary>Proxies at hosts that drop all packets, as after the failure of a machine or a zone:
/// from the start, or from a moment at which calls are in flight.</summary>
public sealed class SilentHostTests : IAsyncDisposable
{
    // So many that their deadline would pass if each attempt to connect failed only one of them.
    private const int AtOnce = 100;

    private static readonly CardAccount Account = new(CardNetwork.Visa, "a");

    private readonly List<IAsyncDisposable> _hosts = [];

    public async ValueTask DisposeAsync()
    {
        foreach (var host in _hosts)
        {
            await host.DisposeAsync();
        }
    }

    [Theory]
    [InlineData("a call")]
    [InlineData("a bulk run")]
    [InlineData("a statement")]
    public async Task A_host_that_answers_no_attempt_to_connect_costs_retries_until_its_circuit_opens_and_no_call(
        string kind)
    {
        // The circuit's clock stands still, so that the circuit stays open.
        var time = new ManualTime();
        time.Set(TimeProvider.System.GetUtcNow() - time.GetUtcNow());
        using var client = new BillingClient(Options(SilentHost(), (await StartAsync()).Address), time);

        await Task.WhenAll(Enumerable.Range(0, AtOnce).Select(_ => UseAsync(client, kind)));
        var before = client.Retried;
        await Task.WhenAll(Enumerable.Range(0, AtOnce).Select(_ => UseAsync(client, kind)));

        Assert.NotEqual(0, before);
        Assert.Equal(before, client.Retried);
    }

    [Fact]
    public async Task An_attempt_to_connect_without_an_answer_is_UNAVAILABLE_with_the_address_and_the_time()
    {
        var silent = SilentHost();
        var options = Options(silent);
        options.RetriesMax = 0;
        using var client = new BillingClient(options);

        var failure = await Assert.ThrowsAsync<RpcException>(() => client.MakePaymentAsync(Samples.Payment()));

        Assert.Equal(StatusCode.Unavailable, failure.StatusCode);
        Assert.Contains($"within 5 s ({new Uri(silent).Authority})", failure.Status.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_handshake_without_an_answer_is_a_failure_of_the_proxy()
    {
        using var hung = new TcpListener(IPAddress.Loopback, 0);
        hung.Start();
        using var channel = GrpcChannel.ForAddress($"https://{hung.LocalEndpoint}", new GrpcChannelOptions
        {
            HttpHandler = new SocketsHttpHandler
            {
                ConnectCallback = new Connector(Dns.GetHostAddressesAsync).ConnectAsync,
                ConnectTimeout = TimeSpan.FromMilliseconds(50),
            },
            DisposeHttpClient = true,
        });

        var failure = await Assert.ThrowsAsync<RpcException>(
            () => new BillingService.BillingServiceClient(channel).MakePaymentAsync(Samples.Payment()).ResponseAsync);

        Assert.True(ProxyFailure.IsBrokenConnection(failure.Status));
        Assert.True(ProxyFailure.IsProxySpecific(failure));
    }

    [Fact]
    public async Task A_caller_that_cancels_during_an_attempt_to_connect_is_not_retried()
    {
        using var client = new BillingClient(Options(SilentHost()));
        using var cancelled = new CancellationTokenSource();

        var paying = client.PayAsync(NewPayment(), cancellationToken: cancelled.Token);
        await cancelled.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => paying);
        Assert.Equal(0, client.Retried);
    }

    /// <summary>All at once, since each takes as long as a host may be silent.</summary>
    [Fact]
    public Task When_a_host_vanishes_what_waits_for_it_goes_to_the_next_proxy_with_the_same_ids() =>
        Task.WhenAll(
            AnAnswerIsLostAsync(), ARequestIsLostAsync(), AFurtherConnectionIsNotAnsweredAsync(), AStreamIsLostAsync());

    [Fact]
    public async Task A_proxy_is_found_by_its_name()
    {
        using var client = new BillingClient(
            Options((await StartAsync()).Address.Replace("127.0.0.1", "localhost", StringComparison.Ordinal)));

        Expect.Accepted(await client.PayAsync(NewPayment()));
        Assert.Equal(0, client.Retried);
    }

    private async Task AnAnswerIsLostAsync()
    {
        var (vanishing, there, relay) = await StartTwoAsync();
        using var client = new BillingClient(Options(relay.Address, there.Address));
        vanishing.Asked = _ => relay.Vanish();

        var results = await Task.WhenAll(client.PayAsync(NewPayment()), client.PayAsync(NewPayment()));

        Assert.All(results, result => Expect.Accepted(result));
        Assert.Contains(Assert.Single(vanishing.Requests), there.Requests);
        Assert.Equal(1, client.Retried);
    }

    private async Task ARequestIsLostAsync()
    {
        var (vanishing, there, relay) = await StartTwoAsync();
        using var client = new BillingClient(Options(relay.Address, there.Address));
        await client.PayAsync(NewPayment());
        await client.PayAsync(NewPayment());
        relay.Vanish();

        var results = await Task.WhenAll(client.PayAsync(NewPayment()), client.PayAsync(NewPayment()));

        Assert.All(results, result => Expect.Accepted(result));
        Assert.Single(vanishing.Requests);
        Assert.Equal(1, client.Retried);
    }

    private async Task AFurtherConnectionIsNotAnsweredAsync()
    {
        var (waiting, there) =
            (new FakeBackend { Answer = _ => new TaskCompletionSource<Reply>().Task }, new FakeBackend());
        var vanishing = Keep(await ProxyHost.StartAsync(waiting, options => options.StreamsPerConnection = 1));
        var next = Keep(await ProxyHost.StartAsync(there));
        var relay = Keep(new TcpRelay(new Uri(vanishing.Address).Port, RelayBehaviour.None));
        using var client = new BillingClient(Options(relay.Address, next.Address));

        // In turn: the second call takes the only stream of the relay's connection, and the fourth one needs
        // another connection.
        await client.PayAsync(NewPayment());
        var second = client.PayAsync(NewPayment());
        while (waiting.Commands.Count == 0)
        {
            await Task.Yield();
        }
        relay.Vanish();
        await client.PayAsync(NewPayment());
        var results = await Task.WhenAll(second, client.PayAsync(NewPayment()));

        Assert.All(results, result => Expect.Accepted(result));
        Assert.Equal(2, client.Retried);
    }

    private async Task AStreamIsLostAsync()
    {
        var (_, there, relay) = await StartTwoAsync();
        using var client = new BillingClient(Options(relay.Address, there.Address));
        // In turn: the run that follows begins at the relay.
        await client.PayAsync(NewPayment());
        var answered = new TaskCompletionSource();
        var results = new List<Outcome<PaymentAnswer>>();

        await foreach (var result in client.PayAllAsync(TwoAsync(answered.Task)))
        {
            results.Add(result);
            relay.Vanish();
            answered.TrySetResult();
        }

        Assert.Equal(2, results.Count);
        Assert.All(results, result => Expect.Accepted(result));
        Assert.Equal(1, client.Retried);

        static async IAsyncEnumerable<Payment> TwoAsync(Task between)
        {
            yield return NewPayment();
            await between;
            yield return NewPayment();
        }
    }

    private static async Task UseAsync(BillingClient client, string kind)
    {
        if (kind == "a call")
        {
            Expect.Accepted(await client.PayAsync(NewPayment()));
        }
        else if (kind == "a bulk run")
        {
            Expect.Accepted(await client.PayAllAsync(new[] { NewPayment() }.ToAsyncEnumerable()).SingleAsync());
        }
        else
        {
            Assert.Equal(1, (await client.ReadStatementAsync(Account).SingleAsync()).Version);
        }
    }

    private static BillingClientOptions Options(params string[] proxies)
    {
        var options = new BillingClientOptions
        {
            Deadline = TimeSpan.FromSeconds(60),
            RetryDelay = TimeSpan.Zero,
            CircuitCallsMin = 2,
        };
        Array.ForEach(proxies, options.Proxies.Add);
        return options;
    }

    private static Payment NewPayment() => new(Account, new Amount(1, "USD"));

    private async Task<ScriptedProxy> StartAsync() => Keep(await ScriptedProxy.StartAsync());

    private async Task<(ScriptedProxy Vanishing, ScriptedProxy There, TcpRelay Relay)> StartTwoAsync()
    {
        var (vanishing, there) = (await StartAsync(), await StartAsync());
        return (vanishing, there, Keep(new TcpRelay(new Uri(vanishing.Address).Port, RelayBehaviour.None)));
    }

    /// <summary>Returns the address of a proxy at a host that has never answered.</summary>
    private string SilentHost()
    {
        var relay = Keep(new TcpRelay(0, RelayBehaviour.None));
        relay.Vanish();
        return relay.Address;
    }

    private T Keep<T>(T host)
        where T : IAsyncDisposable
    {
        _hosts.Add(host);
        return host;
    }
}
