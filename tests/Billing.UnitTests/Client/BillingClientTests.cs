using Billing.Client;
using Billing.Contracts;
using Billing.LocalStack.Processes;
using Billing.Messaging;
using Billing.UnitTests.Proxy;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;

namespace Billing.UnitTests.Client;

/// <summary>The choice of the proxy, the failures that are retried, and the delays before retries.</summary>
public sealed class BillingClientTests : IAsyncDisposable
{
    private readonly ManualTime _time = new();
    private readonly List<ScriptedProxy> _proxies = [];

    // The server checks deadlines with the real clock.
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
    public async Task A_call_that_a_proxy_did_not_process_goes_to_the_next_with_the_same_id(StatusCode status)
    {
        var failure = ScriptedProxy.Failure(status);
        await StartAsync([failure], [failure]);
        using var client = Client();

        // The first proxy fails, then the second one: the third attempt goes to the first proxy again.
        var answer = await PayAsync(client);

        Assert.Equal(PaymentOutcome.Accepted, answer.Outcome);
        Assert.Equal([1, 2], _proxies.Select(p => p.Requests.Count).Order());
        Assert.All(_proxies.SelectMany(p => p.Requests), request => Assert.Equal(Samples.Payment(), request));
        Assert.Equal(2, client.Retried);
    }

    /// <summary>With GOAWAY, as a proxy that stops with calls in flight; without it,
    /// as a host that is cut off.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_call_whose_connection_breaks_goes_to_the_next_proxy(bool sendsGoAway)
    {
        await StartAsync([[]]);
        using var breaking = new BreakingProxy(sendsGoAway);
        using var client = Client(further: breaking.Address);

        // In turn: one of the two calls goes to the breaking proxy first.
        var answers = new[] { await PayAsync(client), await PayAsync(client) };

        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Outcome));
        Assert.Equal(1, client.Retried);
    }

    [Fact]
    public async Task Each_retry_goes_to_the_next_proxy_up_to_the_maximum_number()
    {
        var failures = Enumerable.Range(0, 10)
            .Select(_ => ScriptedProxy.Failure(StatusCode.Unavailable, ErrorReasons.BrokerUnavailable)).ToArray();
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
    public async Task Failures_that_a_retry_cannot_fix_are_not_retried(StatusCode status)
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
    public async Task The_retry_pushback_of_a_proxy_is_the_delay_before_each_retry()
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

    /// <summary>As gRFC A6 says, which takes what is no number for a negative one.</summary>
    [Theory]
    [InlineData("-1")]
    [InlineData("soon")]
    public async Task A_negative_retry_pushback_means_no_retry(string pushback)
    {
        await StartAsync([ScriptedProxy.Failure(StatusCode.Unavailable, pushback: pushback)]);
        using var client = Client();

        await Assert.ThrowsAsync<RpcException>(() => PayAsync(client));

        Assert.Single(_proxies[0].Requests);
    }

    [Fact]
    public async Task A_negative_retry_pushback_ends_a_stream()
    {
        await StartAsync([ScriptedProxy.Failure(StatusCode.Unavailable, ErrorReasons.ShuttingDown, pushback: "-1")]);
        using var client = Client();
        var payments = Enumerable.Range(0, 3)
            .Select(_ => new Payment(new CardAccount(CardNetwork.Visa, "a"), new Amount(1, "USD")));

        var results = await client.PayAllAsync(payments.ToAsyncEnumerable())
            .ToListAsync(TestContext.Current.CancellationToken);

        Assert.Equal(2, results.Count(result => result.Unknown is { Reason: ErrorReasons.ShuttingDown }));
        Assert.Single(_proxies[0].HeadersOf("traceparent"));
    }

    [Fact]
    public async Task Without_a_retry_pushback_delays_follow_the_schedule_of_the_client()
    {
        await StartAsync([.. Enumerable.Repeat(ScriptedProxy.Failure(StatusCode.Unavailable), 8)]);
        using var client = Client();

        await PayAsync(client);

        AssertSchedule([.. _time.Delays]);
    }

    [Fact]
    public async Task Payments_on_a_stream_are_retried_by_the_same_schedule()
    {
        var backend = new FakeBackend();
        var asked = 0;
        backend.Answer = command => Task.FromResult(Interlocked.Increment(ref asked) <= 8
            ? Replies.Error(0, StatusCode.Unavailable, ErrorReasons.BackendUnavailable, "away")
            : FakeBackend.Accepted(command));
        await using var proxy = await ProxyHost.StartAsync(backend);
        using var client = Client(further: proxy.Address);

        var paying = client.PayAllAsync(
            new[] { new Payment(new CardAccount(CardNetwork.Visa, "a"), new Amount(1, "USD")) }.ToAsyncEnumerable())
            .ToListAsync(TestContext.Current.CancellationToken).AsTask();
        await _time.RunToEndAsync(paying);

        Expect.Accepted(Assert.Single(await paying));
        AssertSchedule([.. _time.Delays]);
    }

    [Fact]
    public async Task Cancellation_ends_the_delay_before_a_retry()
    {
        await StartAsync([ScriptedProxy.Failure(StatusCode.Unavailable, pushback: "200000")]);
        using var client = Client();
        using var cancelled = new CancellationTokenSource();
        var failed = new TaskCompletionSource();
        _proxies[0].Asked = _ => failed.TrySetResult();

        var paying = client.MakePaymentAsync(Samples.Payment(), cancelled.Token);
        await failed.Task;
        while (_time.Delays.Count == 0)
        {
            await Task.Yield();
        }
        await cancelled.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => paying);
        Assert.Single(_proxies[0].Requests);
    }

    [Fact]
    public async Task An_unreachable_proxy_costs_a_retry_but_no_payment()
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

    /// <summary>Doubled each time up to two seconds, a fifth more or less, and no two alike.</summary>
    private static void AssertSchedule(TimeSpan[] delays)
    {
        double[] schedule = [50, 100, 200, 400, 800, 1600, 2000, 2000];
        Assert.Equal(schedule.Length, delays.Length);
        Assert.All(
            delays.Zip(schedule), d => Assert.InRange(d.First.TotalMilliseconds, d.Second * 0.8, d.Second * 1.2));
        Assert.NotEqual(delays[6], delays[7]);
        Assert.DoesNotContain(delays.Zip(schedule), d => d.First.TotalMilliseconds == d.Second);
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

    /// <summary>Pays while the manual clock is advanced, so that no delay takes real time.</summary>
    private async Task<MakePaymentResponse> PayAsync(BillingClient client)
    {
        var paying = client.MakePaymentAsync(Samples.Payment());
        await _time.RunToEndAsync(paying);
        return await paying;
    }
}
