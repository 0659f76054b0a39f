using Billing.Client;
using Grpc.Core;
using Grpc.Core.Interceptors;

namespace Billing.UnitTests.Client;

/// <summary>What a caller may add to calls and connections.</summary>
public sealed class HookTests
{
    private static readonly CardAccount Account = new(CardNetwork.Visa, "acct-42");

    [Fact]
    public async Task Interceptors_see_each_attempt_of_calls_and_streams_in_their_order_and_where_it_goes()
    {
        await using var proxy = await ScriptedProxy.StartAsync(ScriptedProxy.Failure(StatusCode.Unavailable));
        var last = new Tenant("b");
        using var client = Client(proxy, options =>
        {
            options.Interceptors.Add(new Tenant("a"));
            options.Interceptors.Add(last);
        });

        await client.PayAsync(NewPayment());
        await client.PayAllAsync(new[] { NewPayment() }.ToAsyncEnumerable())
            .ToListAsync(TestContext.Current.CancellationToken);
        await client.ReadStatementAsync(Account).ToListAsync(TestContext.Current.CancellationToken);

        Assert.Equal(Enumerable.Repeat("ab", 4), proxy.HeadersOf("tenant"));
        Assert.Equal(Enumerable.Repeat(proxy.Address, 4), last.Hosts);
    }

    [Fact]
    public async Task A_handler_may_wrap_that_of_the_client()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var client = Client(proxy, options => options.HttpHandler = handler => new TenantHandler(handler));

        Expect.Accepted(await client.PayAsync(NewPayment()));

        Assert.Equal(["over http"], proxy.HeadersOf("tenant"));
    }

    /// <summary>Such as certificates that are checked in another way.</summary>
    [Fact]
    public async Task The_settings_of_the_handler_may_be_changed()
    {
        using var certificates = new SelfMadeCertificates();
        await using var proxy = await ScriptedProxy.StartAsync(certificates);
        using var client = Client(proxy, options =>
        {
            options.Tls.CertificateFile = certificates.ClientFile;
            options.Tls.KeyFile = certificates.KeyFile;
            options.HttpHandler = handler =>
            {
                handler.SslOptions.RemoteCertificateValidationCallback = (_, certificate, _, _) =>
                    certificate!.Subject == "CN=server";
                return handler;
            };
        });

        Expect.Accepted(await client.PayAsync(NewPayment()));
    }

    private static Payment NewPayment() => new(Account, new Amount(5, "USD"));

    private static BillingClient Client(ScriptedProxy proxy, Action<BillingClientOptions> configure)
    {
        var options =
            new BillingClientOptions { Proxies = { proxy.Address }, RetriesMax = 1, RetryDelay = TimeSpan.Zero };
        configure(options);
        return new BillingClient(options);
    }

    /// <summary>Appends a letter to the header <c>tenant</c>.</summary>
    private sealed class Tenant(string letter) : Interceptor
    {
        public List<string?> Hosts { get; } = [];

        public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
            TRequest request, ClientInterceptorContext<TRequest, TResponse> context,
            AsyncUnaryCallContinuation<TRequest, TResponse> continuation) =>
            continuation(request, With(context));

        public override AsyncServerStreamingCall<TResponse> AsyncServerStreamingCall<TRequest, TResponse>(
            TRequest request, ClientInterceptorContext<TRequest, TResponse> context,
            AsyncServerStreamingCallContinuation<TRequest, TResponse> continuation) =>
            continuation(request, With(context));

        public override AsyncDuplexStreamingCall<TRequest, TResponse> AsyncDuplexStreamingCall<TRequest, TResponse>(
            ClientInterceptorContext<TRequest, TResponse> context,
            AsyncDuplexStreamingCallContinuation<TRequest, TResponse> continuation) =>
            continuation(With(context));

        private ClientInterceptorContext<TRequest, TResponse> With<TRequest, TResponse>(
            ClientInterceptorContext<TRequest, TResponse> context)
            where TRequest : class
            where TResponse : class
        {
            Hosts.Add(context.Host);
            return new(context.Method, context.Host, context.Options.WithHeaders(
                new Metadata { { "tenant", context.Options.Headers?.GetValue("tenant") + letter } }));
        }
    }

    private sealed class TenantHandler(HttpMessageHandler inner) : DelegatingHandler(inner)
    {
        protected override Task<HttpResponseMessage> SendAsync(
            HttpRequestMessage request, CancellationToken cancellationToken)
        {
            request.Headers.Add("tenant", "over http");
            return base.SendAsync(request, cancellationToken);
        }
    }
}
