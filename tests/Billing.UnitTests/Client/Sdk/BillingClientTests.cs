using Billing.Client;
using Billing.Contracts;
using Billing.LocalStack.Processes;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;

namespace Billing.UnitTests.Client.Sdk;

/// <summary>Which proxy a call goes to, what is tried again, and after which wait.</summary>
public sealed class BillingClientTests : IAsyncDisposable
{
    private readonly ManualTime _time = new();
    private readonly List<ScriptedProxy> _proxies = [];

    // The server's deadlines are real ones.
    public BillingClientTests() => _time.Set(TimeProvider.System.GetUtcNow() - _time.GetUtcNow());

    public async ValueTask DisposeAsync()
    {
        foreach (var proxy in _proxies)
        {
            await proxy.DisposeAsync();
        }
    }

    [Fact]
    public async Task Calls_go_to_the_proxies_in_turn()
    {
        await StartAsync([], [], []);
        using var client = Client();
        var order = new List<int>();
        for (var i = 0; i < _proxies.Count; i++)
        {
            var number = i;
            _proxies[i].Asked = _ => order.Add(number);
        }

        for (var call = 0; call < 9; call++)
        {
            await client.MakePaymentAsync(Samples.Payment());
        }

        Assert.All(order.Skip(1).Zip(order), turn => Assert.Equal((turn.Second + 1) % 3, turn.First));
        Assert.All(_proxies, proxy => Assert.Equal(3, proxy.Requests.Count));
        Assert.Equal(0, client.Retried);
    }

    [Theory]
    [InlineData(StatusCode.Unavailable)]
    [InlineData(StatusCode.ResourceExhausted)]
    public async Task What_a_proxy_did_not_take_goes_to_the_next_under_the_same_id(StatusCode status)
    {
        var failure = ScriptedProxy.Failure(status);
        await StartAsync([failure], [failure]);
        using var client = Client();

        // Whichever is asked first fails, and so does the other: the third try is the first proxy's again.
        var answer = await PayAsync(client);

        Assert.Equal(PaymentOutcome.Accepted, answer.Outcome);
        Assert.Equal([1, 2], _proxies.Select(p => p.Requests.Count).Order());
        Assert.All(_proxies.SelectMany(p => p.Requests), request => Assert.Equal(Samples.Payment(), request));
        Assert.Equal(2, client.Retried);
    }

    /// <summary>As a proxy does that ends with calls in hand, and as a host looks that is cut off.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_call_whose_connection_breaks_goes_to_the_next_proxy(bool saysGoodbye)
    {
        await StartAsync([[]]);
        using var breaking = new BreakingProxy(saysGoodbye);
        using var client = Client(further: breaking.Address);

        // In turn: one of two begins at the proxy that breaks.
        var answers = new[] { await PayAsync(client), await PayAsync(client) };

        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Outcome));
        Assert.Equal(1, client.Retried);
    }

    [Fact]
    public async Task Every_try_is_on_the_proxy_after_the_one_that_failed_until_there_were_enough()
    {
        var failures = Enumerable.Range(0, 10).Select(_ => ScriptedProxy.Failure(StatusCode.Unavailable, ErrorReasons.BrokerUnavailable)).ToArray();
        await StartAsync(failures, failures, failures);
        using var client = Client(retriesMax: 5);
        var order = new List<int>();
        for (var i = 0; i < _proxies.Count; i++)
        {
            var number = i;
            _proxies[i].Asked = _ => order.Add(number);
        }

        var e = await Assert.ThrowsAsync<RpcException>(() => PayAsync(client));

        Assert.Equal(ErrorReasons.BrokerUnavailable, BillingClient.Reason(e));
        Assert.Equal(6, order.Count);
        Assert.All(order.Skip(1).Zip(order), turn => Assert.Equal((turn.Second + 1) % 3, turn.First));
        Assert.Equal(5, client.Retried);
    }

    [Theory]
    [InlineData(StatusCode.InvalidArgument)]
    [InlineData(StatusCode.AlreadyExists)]
    [InlineData(StatusCode.DeadlineExceeded)]
    [InlineData(StatusCode.Internal)]
    [InlineData(StatusCode.OutOfRange)]
    public async Task What_another_try_cannot_mend_is_not_tried_again(StatusCode status)
    {
        await StartAsync([ScriptedProxy.Failure(status, "WHY")], [ScriptedProxy.Failure(status, "WHY")]);
        using var client = Client();

        var e = await Assert.ThrowsAsync<RpcException>(() => PayAsync(client));

        Assert.Equal((status, "WHY"), (e.StatusCode, BillingClient.Reason(e)));
        Assert.Single(_proxies.SelectMany(p => p.Requests));
        Assert.Equal(0, client.Retried);
    }

    [Fact]
    public async Task A_client_without_retries_tries_once()
    {
        await StartAsync([ScriptedProxy.Failure(StatusCode.Unavailable)]);
        using var client = Client(retriesMax: 0);

        await Assert.ThrowsAsync<RpcException>(() => PayAsync(client));

        Assert.Single(_proxies[0].Requests);
    }

    [Fact]
    public async Task A_proxys_own_hint_is_the_wait_before_each_further_try()
    {
        await StartAsync([
            ScriptedProxy.Failure(StatusCode.ResourceExhausted, pushback: "700"),
            ScriptedProxy.Failure(StatusCode.ResourceExhausted, pushback: "1300"),
            ScriptedProxy.Failure(StatusCode.ResourceExhausted, pushback: "0"),
        ]);
        using var client = Client();

        await PayAsync(client);

        Assert.Equal(4, _proxies[0].Requests.Count);
        Assert.Equal([700, 1300], _time.Delays.Select(d => d.TotalMilliseconds).Where(ms => ms > 0));
    }

    [Theory]
    [InlineData(null)]
    [InlineData("-1")]
    [InlineData("soon")]
    public async Task Without_a_hint_that_can_be_read_the_first_wait_is_the_clients_own(string? pushback)
    {
        await StartAsync([ScriptedProxy.Failure(StatusCode.Unavailable, pushback: pushback)]);
        using var client = Client();

        await PayAsync(client);

        Assert.Equal(50, Assert.Single(_time.Delays).TotalMilliseconds);
    }

    [Fact]
    public async Task A_caller_that_gives_up_ends_the_wait()
    {
        await StartAsync([ScriptedProxy.Failure(StatusCode.Unavailable, pushback: "3600000")]);
        using var client = Client();
        using var gone = new CancellationTokenSource();
        var failed = new TaskCompletionSource();
        _proxies[0].Asked = _ => failed.TrySetResult();

        var paying = client.MakePaymentAsync(Samples.Payment(), gone.Token);
        await failed.Task;
        while (_time.Delays.Count == 0)
        {
            await Task.Yield();
        }
        await gone.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => paying);
        Assert.Single(_proxies[0].Requests);
    }

    [Fact]
    public async Task A_proxy_that_is_not_there_costs_a_try_and_not_the_payment()
    {
        using var ports = new FreePorts();
        await StartAsync([[]]);
        using var client = Client(further: $"http://127.0.0.1:{ports.Take()}");

        for (var call = 0; call < 4; call++)
        {
            await PayAsync(client);
        }

        Assert.Equal(4, _proxies[0].Requests.Count);
        Assert.Equal(2, client.Retried);
    }

    private async Task StartAsync(params RpcException[][] failures)
    {
        foreach (var of in failures)
        {
            _proxies.Add(await ScriptedProxy.StartAsync(of));
        }
    }

    private BillingClient Client(int? retriesMax = null, string? further = null)
    {
        var options = new BillingClientOptions { Deadline = TimeSpan.FromMinutes(5) };
        options.RetriesMax = retriesMax ?? options.RetriesMax;
        foreach (var address in _proxies.Select(p => p.Address).Concat(further is null ? [] : [further]))
        {
            options.Proxies.Add(address);
        }
        return new BillingClient(options, _time);
    }

    /// <summary>Pays while the clock runs, so that no wait takes time.</summary>
    private async Task<MakePaymentResponse> PayAsync(BillingClient client)
    {
        var paying = client.MakePaymentAsync(Samples.Payment());
        await _time.RunToEndAsync(paying);
        return await paying;
    }
}
