using Billing.Client;
using Billing.Contracts;
using Grpc.Core;

namespace Billing.UnitTests.Client;

/// <summary>Which proxies are skipped, and when they are tried again.</summary>
public sealed class CircuitTests : IAsyncDisposable
{
    private readonly ManualTime _time = new();
    private readonly List<ScriptedProxy> _proxies = [];

    public CircuitTests() => _time.Set(TimeProvider.System.GetUtcNow() - _time.GetUtcNow());

    public async ValueTask DisposeAsync()
    {
        foreach (var proxy in _proxies)
        {
            await proxy.DisposeAsync();
        }
    }

    [Fact]
    public async Task A_failing_proxy_is_skipped_until_its_break_is_over()
    {
        await StartAsync(failures: 4, good: 1);
        using var client = Client();
        await PayAsync(client, 8);
        var before = _proxies[0].Requests.Count;

        await PayAsync(client, 10);
        var meanwhile = _proxies[0].Requests.Count;
        _time.Advance(TimeSpan.FromSeconds(5));
        await PayAsync(client, 10);

        Assert.Equal((4, 4), (before, meanwhile));
        // The trial call succeeds, and the following calls use the proxy in turn again.
        Assert.InRange(_proxies[0].Requests.Count, 8, 9);
    }

    [Fact]
    public async Task A_proxy_that_stays_unavailable_costs_one_call_per_break()
    {
        await StartAsync(failures: 1_000, good: 1);
        using var client = Client();
        await PayAsync(client, 20);

        for (var breaks = 1; breaks <= 3; breaks++)
        {
            _time.Advance(TimeSpan.FromSeconds(5));
            await PayAsync(client, 20);
            Assert.Equal(4 + breaks, _proxies[0].Requests.Count);
        }
    }

    /// <summary>Its own deadline has passed, or its caller has cancelled it, which says
    /// nothing about the proxy.</summary>
    [Theory]
    [InlineData(StatusCode.DeadlineExceeded)]
    [InlineData(StatusCode.Cancelled)]
    public async Task A_trial_call_that_ends_without_an_answer_does_not_close_the_circuit(StatusCode status)
    {
        await StartAsync(
            [
                .. Enumerable.Repeat(ScriptedProxy.Failure(StatusCode.Unavailable, pushback: "0"), 4),
                ScriptedProxy.Failure(status),
            ],
            good: 1);
        using var client = Client();
        await PayAsync(client, 20);

        _time.Advance(TimeSpan.FromSeconds(5));
        await PayAsync(client, 20);

        Assert.Equal(5, _proxies[0].Requests.Count);
    }

    [Fact]
    public async Task If_all_proxies_are_unavailable_calls_are_still_sent()
    {
        await StartAsync(failures: 40, good: 0);
        using var client = Client(retriesMax: 1);
        for (var call = 0; call < 20; call++)
        {
            Expect.Unknown(await PayAsync(client));
        }

        Expect.Accepted(await PayAsync(client));
    }

    /// <summary>Failures of the back ends affect the other proxies too, and an overloaded proxy is not
    /// unavailable.</summary>
    [Theory]
    [InlineData(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight)]
    [InlineData(StatusCode.Unavailable, ErrorReasons.EventStoreUnavailable)]
    [InlineData(StatusCode.InvalidArgument, ErrorReasons.InvalidField)]
    public async Task Failures_that_are_not_specific_to_the_proxy_do_not_open_its_circuit(
        StatusCode status, string reason)
    {
        await StartAsync(failures: 30, good: 1, status, reason);
        using var client = Client();

        await PayAsync(client, 40);

        Assert.True(_proxies[0].Requests.Count >= 20);
    }

    [Fact]
    public async Task Streams_skip_proxies_whose_circuit_was_opened_by_calls()
    {
        await StartAsync(failures: 1_000, good: 1);
        using var client = Client();
        await PayAsync(client, 20);

        for (var stream = 0; stream < 4; stream++)
        {
            await foreach (var line in client.ReadStatementAsync(new CardAccount(CardNetwork.Visa, "a")))
            {
                Assert.Equal(1, line.Version);
            }
        }

        Assert.Equal(4, _proxies[0].HeadersOf("traceparent").Count());
    }

    private Task StartAsync(
        int failures, int good, StatusCode status = StatusCode.Unavailable,
        string reason = ErrorReasons.ShuttingDown) =>
        StartAsync([.. Enumerable.Repeat(ScriptedProxy.Failure(status, reason, pushback: "0"), failures)], good);

    private async Task StartAsync(RpcException[] failures, int good)
    {
        _proxies.Add(await ScriptedProxy.StartAsync(failures));
        for (var i = 0; i < good; i++)
        {
            _proxies.Add(await ScriptedProxy.StartAsync());
        }
    }

    private BillingClient Client(int retriesMax = 8)
    {
        var options = new BillingClientOptions
        {
            Deadline = TimeSpan.FromMinutes(5),
            RetriesMax = retriesMax,
            CircuitCallsMin = 4,
        };
        _proxies.ForEach(proxy => options.Proxies.Add(proxy.Address));
        return new BillingClient(options, _time);
    }

    private static Task<Outcome<PaymentAnswer>> PayAsync(BillingClient client) =>
        client.PayAsync(new Payment(new CardAccount(CardNetwork.Visa, "a"), new Amount(1, "USD")));

    private static async Task PayAsync(BillingClient client, int times)
    {
        for (var call = 0; call < times; call++)
        {
            await PayAsync(client);
        }
    }
}
