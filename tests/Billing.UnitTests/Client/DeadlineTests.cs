using System.Diagnostics;
using Billing.Client;
using Billing.Client.Testing;
using Billing.Contracts;
using Billing.LocalStack.Processes;
using Grpc.Core;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;

namespace Billing.UnitTests.Client;

/// <summary>The deadlines of calls, what they leave of the failures before them, and what is logged of those.</summary>
public sealed class DeadlineTests
{
    private static readonly CardAccount Account = new(CardNetwork.Visa, "a");

    private readonly FakeLogCollector _log = new();

    public static TheoryData<TimeSpan> OutOfRange =>
        [
            TimeSpan.Zero, TimeSpan.FromTicks(-1), TimeSpan.MinValue, TimeSpan.MaxValue, Timeout.InfiniteTimeSpan,
            TimeSpan.FromDays(1) + TimeSpan.FromTicks(1),
        ];

    /// <summary>With the platform's advice, and at once: what could come after the deadline is
    /// the caller's affair.</summary>
    [Fact]
    public async Task A_retry_that_the_platform_wants_after_the_deadline_is_not_waited_for()
    {
        await using var proxy = await ScriptedProxy.StartAsync(
            ScriptedProxy.Failure(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight, pushback: "20000"));
        using var client = Client(proxy.Address);
        var start = Stopwatch.GetTimestamp();

        var unknown = Expect.Unknown(await client.PayAsync(NewPayment(), TimeSpan.FromSeconds(2)));

        Assert.True(
            Stopwatch.GetElapsedTime(start) < TimeSpan.FromSeconds(2), $"It took {Stopwatch.GetElapsedTime(start)}.");
        Assert.Equal(
            (ErrorReasons.TooManyInFlight, "scripted failure", TimeSpan.FromSeconds(20)),
            (unknown.Reason, unknown.Message, unknown.RetryAfter));
        Assert.Single(proxy.Requests);
    }

    [Fact]
    public async Task A_stream_does_not_wait_longer_than_the_deadline_of_a_call_for_its_retry()
    {
        await using var proxy = await ScriptedProxy.StartAsync(
            ScriptedProxy.Failure(StatusCode.Unavailable, ErrorReasons.ShuttingDown, pushback: "20000"));
        proxy.FailsStreamsAtOnce = true;
        using var client = Client(proxy.Address, options => options.Deadline = TimeSpan.FromSeconds(2));
        var start = Stopwatch.GetTimestamp();

        var outcomes = await client.PayAllAsync(Enumerable.Range(0, 3).Select(_ => NewPayment()).ToAsyncEnumerable())
            .ToListAsync(TestContext.Current.CancellationToken);

        Assert.True(
            Stopwatch.GetElapsedTime(start) < TimeSpan.FromSeconds(2), $"It took {Stopwatch.GetElapsedTime(start)}.");
        Assert.All(outcomes, outcome => Assert.Equal(ErrorReasons.ShuttingDown, Expect.Unknown(outcome).Reason));
        Assert.Equal(3, outcomes.Count);
    }

    /// <summary>Twenty seconds after ten are too many, though twenty of thirty are not.</summary>
    [Fact]
    public async Task All_waits_of_a_call_together_are_within_its_deadline()
    {
        var time = new ManualTime();
        time.Set(TimeProvider.System.GetUtcNow() - time.GetUtcNow());
        await using var proxy = await ScriptedProxy.StartAsync(
            [
                .. Enumerable.Repeat(ScriptedProxy.Failure(
                    StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached, pushback: "20000"), 3),
            ]);
        using var client = new BillingClient(
            new BillingClientOptions { Proxies = { proxy.Address }, Deadline = TimeSpan.FromSeconds(30) }, time);

        var paying = client.PayAsync(NewPayment());
        await time.RunToEndAsync(paying);

        Assert.Equal(ErrorReasons.CallerLimitReached, Expect.Unknown(await paying).Reason);
        Assert.Equal(2, proxy.Requests.Count);
    }

    [Theory]
    [MemberData(nameof(OutOfRange))]
    public async Task A_deadline_out_of_range_is_refused_by_name(TimeSpan deadline)
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var real = Client(proxy.Address);
        using var admin = new BillingAdminClient(new BillingClientOptions { Proxies = { proxy.Address } });
        using var fake = new InMemoryBilling();

        foreach (var client in (object[])[real, admin, fake, fake.Admin])
        {
            foreach (var call in SdkCalls.Of(client))
            {
                await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
                    nameof(deadline), () => SdkCalls.MakeAsync(client, call, deadline));
            }
        }
        Assert.Empty(proxy.Requests);
    }

    [Fact]
    public async Task The_longest_and_the_shortest_deadline_are_kept()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var client = Client(proxy.Address);

        Expect.Accepted(await client.PayAsync(NewPayment(), TimeSpan.FromDays(1)));
        Assert.StartsWith(
            $"There was no answer from {proxy.Address} within 00:00:0",
            Expect.Unknown(await client.PayAsync(NewPayment(), TimeSpan.FromTicks(1))).Message,
            StringComparison.Ordinal);
    }

    /// <summary>Of a proxy that is away, of one with the certificate of another authority, and of http where the
    /// proxy expects TLS.</summary>
    [Theory]
    [InlineData("away", "refused")]
    [InlineData("authority", "certificate")]
    [InlineData("plain", "http")]
    public async Task What_keeps_calls_from_a_proxy_is_in_the_outcome_and_in_the_log(string what, string said)
    {
        using var certificates = new SelfMadeCertificates();
        using var others = new SelfMadeCertificates();
        using var ports = new FreePorts();
        await using var proxy = await ScriptedProxy.StartAsync(certificates);
        using var client = Client(
            what == "away" ? $"http://127.0.0.1:{ports.Take()}"
                : what == "plain" ? proxy.Address.Replace("https", "http", StringComparison.Ordinal)
                : proxy.Address,
            options => others.Apply(options.Tls));

        var unknown = Expect.Unknown(await client.PayAsync(NewPayment(), TimeSpan.FromMilliseconds(400)));

        Assert.Contains(said, unknown.Message, StringComparison.OrdinalIgnoreCase);
        var logged = _log.GetSnapshot();
        Assert.Contains(logged, line => line.Level == LogLevel.Information
            && line.Message.Contains("attempt 1, at http", StringComparison.Ordinal)
            && line.Message.Contains(said, StringComparison.OrdinalIgnoreCase));
        Assert.EndsWith(
            unknown.Message, Assert.Single(logged, line => line.Level == LogLevel.Warning && line.Id == 2).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_deadline_that_passes_during_a_retry_says_what_the_attempt_before_failed_with()
    {
        await using var failing = await ScriptedProxy.StartAsync(
            ScriptedProxy.Failure(StatusCode.Unavailable, ErrorReasons.BrokerUnavailable));
        using var held = new ManualResetEventSlim();
        var asked = 0;
        failing.Asked = _ =>
        {
            if (Interlocked.Increment(ref asked) > 1)
            {
                held.Wait();
            }
        };
        using var client = Client(failing.Address);

        var unknown = Expect.Unknown(await client.PayAsync(NewPayment(), TimeSpan.FromSeconds(1)));
        held.Set();

        Assert.Equal(
            (ErrorReasons.BrokerUnavailable,
                $"There was no answer from {failing.Address} within 00:00:01. The attempt before it failed: "
                    + "Unavailable: scripted failure"),
            (unknown.Reason, unknown.Message));
    }

    [Fact]
    public async Task What_the_business_refuses_and_what_the_caller_cancels_is_not_logged()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var client = Client(proxy.Address);
        using var cancelled = new CancellationTokenSource();
        await cancelled.CancelAsync();

        await client.PayAsync(NewPayment());
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => client.PayAsync(NewPayment(), cancellationToken: cancelled.Token));

        Assert.Empty(_log.GetSnapshot());
    }

    private static Payment NewPayment() => new(Account, new Amount(1, "USD"));

    private BillingClient Client(string address, Action<BillingClientOptions>? configure = null)
    {
        var options = new BillingClientOptions
        {
            Proxies = { address },
            LoggerFactory = new LoggerFactory([new FakeLoggerProvider(_log)]),
        };
        configure?.Invoke(options);
        return new BillingClient(options);
    }
}
