using Billing.Client;
using Billing.Contracts;
using Billing.UnitTests.Testing;
using Grpc.Core;

namespace Billing.UnitTests.Client;

/// <summary>Tokens and certificates.</summary>
public sealed class SecurityTests : IDisposable
{
    private static readonly CardAccount Account = new(CardNetwork.Visa, "acct-42");

    private readonly SelfMadeCertificates _certificates = new();

    public void Dispose() => _certificates.Dispose();

    [Fact]
    public async Task A_token_is_sent_with_every_call_and_every_stream()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var client = Client(proxy.Address, options => options.Token = "abc.def");

        await client.PayAsync(NewPayment());
        await client.MakePaymentAsync(Samples.Payment());
        await foreach (var _ in client.PayAllAsync(new[] { NewPayment() }.ToAsyncEnumerable()))
        {
        }
        await foreach (var _ in client.ReadStatementAsync(Account))
        {
        }

        Assert.Equal(Enumerable.Repeat("Bearer abc.def", 4), proxy.HeadersOf("authorization"));
    }

    [Fact]
    public async Task A_token_provider_is_called_once_per_call()
    {
        await using var proxy = await ScriptedProxy.StartAsync(ScriptedProxy.Failure(StatusCode.Unavailable));
        var calls = 0;
        using var client = Client(
            proxy.Address, options => options.TokenProvider = _ => ValueTask.FromResult($"token-{++calls}"));

        await client.PayAsync(NewPayment());
        await client.PayAsync(NewPayment());

        // The first call has two attempts.
        Assert.Equal(["Bearer token-1", "Bearer token-1", "Bearer token-2"], proxy.HeadersOf("authorization"));
    }

    [Fact]
    public async Task A_stream_whose_token_has_expired_is_continued_with_another_token()
    {
        await using var proxy = await ScriptedProxy.StartAsync(
            ScriptedProxy.Failure(StatusCode.Unauthenticated, ErrorReasons.TokenExpired));
        var calls = 0;
        using var client = Client(
            proxy.Address, options => options.TokenProvider = _ => ValueTask.FromResult($"token-{++calls}"));

        var results = await client.PayAllAsync(new[] { NewPayment(), NewPayment(), NewPayment() }.ToAsyncEnumerable())
            .ToListAsync(TestContext.Current.CancellationToken);

        Assert.All(results, result => Expect.Accepted(result));
        Assert.Equal(["Bearer token-1", "Bearer token-2"], proxy.HeadersOf("authorization"));
    }

    /// <summary>Sent all the same, it would close the connection, with the calls of others on it.</summary>
    [Theory]
    [InlineData("abc.def\n")]
    [InlineData("abc def")]
    [InlineData("")]
    [InlineData(null)]
    public async Task A_token_of_a_provider_that_cannot_be_sent_is_refused_and_nothing_is_sent(string? token)
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var client = Client(proxy.Address, options => options.TokenProvider = _ => ValueTask.FromResult(token!));

        var refused = await Assert.ThrowsAsync<InvalidOperationException>(() => client.PayAsync(NewPayment()));
        var paid = await client.PayAllAsync(new[] { NewPayment() }.ToAsyncEnumerable())
            .SingleAsync(TestContext.Current.CancellationToken);

        Assert.StartsWith(
            "Nothing was sent: Billing:Client:TokenProvider has returned no token,",
            refused.Message, StringComparison.Ordinal);
        Assert.Equal(refused.Message, Expect.Unknown(paid).Message);
        Assert.Empty(proxy.HeadersOf("authorization"));
    }

    [Fact]
    public async Task If_the_token_provider_throws_nothing_is_sent_and_its_exception_is_thrown()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var client = Client(
            proxy.Address, options => options.TokenProvider = _ => throw new TimeoutException("no token"));

        await Assert.ThrowsAsync<TimeoutException>(() => client.PayAsync(NewPayment()));

        Assert.Empty(proxy.Requests);
    }

    /// <summary>A provider may hang, whether it observes its token or not.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_token_provider_that_returns_nothing_before_the_deadline_has_nothing_sent(bool isObservant)
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        var time = new ManualTime();
        using var client = Client(proxy.Address, time, options => options.TokenProvider = async token =>
        {
            await Task.Delay(Timeout.Infinite, isObservant ? token : CancellationToken.None);
            return "";
        });

        var call = client.PayAsync(NewPayment(), TimeSpan.FromMinutes(2));
        await time.RunToEndAsync(call);
        var stream = client.PayAllAsync(new[] { NewPayment() }.ToAsyncEnumerable())
            .ToListAsync(TestContext.Current.CancellationToken).AsTask();
        await time.RunToEndAsync(stream);

        Assert.Equal(
            "The attempt was not sent: Billing:Client:TokenProvider has returned no token within 00:02:00.",
            Expect.Unknown(await call).Message);
        Assert.Equal(
            "The attempt was not sent: Billing:Client:TokenProvider has returned no token within 00:00:30.",
            Expect.Unknown(Assert.Single(await stream)).Message);
        Assert.Empty(proxy.HeadersOf("authorization"));
    }

    [Fact]
    public async Task A_caller_that_cancels_does_not_wait_for_a_token_provider()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var cancelled = new CancellationTokenSource();
        using var client = Client(proxy.Address, options => options.TokenProvider = async _ =>
        {
            await cancelled.CancelAsync();
            await Task.Delay(Timeout.Infinite, CancellationToken.None);
            return "";
        });

        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => client.PayAsync(NewPayment(), cancellationToken: cancelled.Token));
    }

    [Theory]
    [InlineData("http://localhost:5000", false, true)]
    [InlineData("http://127.0.0.1:5000", false, true)]
    [InlineData("https://billing.example", false, true)]
    [InlineData("http://billing.example", false, false)]
    [InlineData("http://billing.example", true, true)]
    [InlineData("dns:///billing.example", false, true)]
    public void A_token_is_sent_to_other_machines_over_https_unless_allowed_otherwise(
        string address, bool allowed, bool isValid)
    {
        var options = new BillingClientOptions { Proxies = { address }, Token = "abc", AllowTokenOverHttp = allowed };

        Assert.Equal(
            isValid ? [] : [$"Billing:Client:Proxies: '{address}' is plain http"],
            options.ValidationErrors().Select(p => p.Split(',')[0]));
    }

    [Fact]
    public void A_token_is_not_sent_to_a_name_over_plain_http_unless_that_is_allowed()
    {
        var options = new BillingClientOptions
        {
            Proxies = { "dns:///billing.example:5000" },
            DnsPlaintext = true,
            Token = "abc",
        };

        Assert.StartsWith(
            "Billing:Client:Proxies: 'dns:///billing.example:5000' is plain http",
            Assert.Single(options.ValidationErrors()), StringComparison.Ordinal);
        options.AllowTokenOverHttp = true;
        Assert.Empty(options.ValidationErrors());
    }

    [Fact]
    public async Task A_client_with_a_certificate_of_the_authority_is_accepted()
    {
        await using var proxy = await ScriptedProxy.StartAsync(_certificates);
        using var client = Client(proxy.Address, options => _certificates.Apply(options.Tls));

        Expect.Accepted(await client.PayAsync(NewPayment()));
    }

    [Fact]
    public async Task A_client_without_a_certificate_is_rejected()
    {
        await using var proxy = await ScriptedProxy.StartAsync(_certificates);
        using var client = Client(proxy.Address, options => options.Tls.CaFile = _certificates.CaFile);

        Expect.Unknown(await client.PayAsync(NewPayment()));
        Assert.Empty(proxy.Requests);
    }

    [Fact]
    public async Task A_proxy_of_another_authority_is_not_trusted()
    {
        using var others = new SelfMadeCertificates();
        await using var proxy = await ScriptedProxy.StartAsync(others);
        using var client = Client(proxy.Address, options => _certificates.Apply(options.Tls));

        var unknown = Expect.Unknown(await client.PayAsync(NewPayment()));
        Assert.Contains($"the authorities in {_certificates.CaFile}", unknown.Message, StringComparison.Ordinal);
        Assert.Empty(proxy.Requests);
    }

    [Fact]
    public void An_invalid_certificate_file_is_named_when_the_client_is_created()
    {
        File.WriteAllText(_certificates.CaFile, "hello");

        var e = Assert.Throws<ArgumentException>(
            () => Client("https://localhost:1", options => options.Tls.CaFile = _certificates.CaFile));

        Assert.Contains($"Billing:Client:Tls:CaFile: '{_certificates.CaFile}'", e.Message, StringComparison.Ordinal);
    }

    private static Payment NewPayment() => new(Account, new Amount(5, "USD"));

    private static BillingClient Client(string address, Action<BillingClientOptions> configure) =>
        Client(address, TimeProvider.System, configure);

    private static BillingClient Client(string address, TimeProvider time, Action<BillingClientOptions> configure)
    {
        var options = new BillingClientOptions { Proxies = { address }, RetriesMax = 1, RetryDelay = TimeSpan.Zero };
        configure(options);
        return new BillingClient(options, time);
    }
}
