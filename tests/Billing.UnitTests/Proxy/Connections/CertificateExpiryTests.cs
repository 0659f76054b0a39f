using System.Net;
using System.Net.Http.Json;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Billing.Contracts;
using Billing.Operator.Credentials;
using Billing.UnitTests.Proxy.Security;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.UnitTests.Proxy.Connections;

/// <summary>Client certificates that expire while their connection is open. The clock of the proxy is moved; that of
/// TLS is the machine's, by which they stay valid.</summary>
public sealed class CertificateExpiryTests : IAsyncLifetime
{
    private readonly ManualTime _time = new();
    private readonly CountedConnections _connections = new();
    private SecureProxy _proxy = null!;
    private string _shop = "";

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _proxy = await SecureProxy.StartAsync(
            new()
            {
                ["Billing:Auth:Certificates:shop:Accounts"] = "*/*",
                ["Billing:Auth:Certificates:shop:Scopes"] = "payments:write",
                ["Billing:Auth:ClockSkew"] = "00:00:00",
            },
            _time);
        _shop = _proxy.Authority.Client("shop");
    }

    public ValueTask DisposeAsync() => _proxy.DisposeAsync();

    [Fact]
    public async Task Calls_are_refused_from_when_the_certificate_of_their_connection_expires_and_the_connection_ends()
    {
        using var channel = Channel();
        var client = new BillingService.BillingServiceClient(channel);
        MoveTo(TimeSpan.Zero);
        await client.MakePaymentAsync(Samples.Payment(), cancellationToken: Stop);

        MoveTo(TimeSpan.FromSeconds(1));

        await Poll.UntilAsync(
            async () =>
            {
                var refused = await Assert.ThrowsAsync<RpcException>(
                    () => client.MakePaymentAsync(Samples.Payment(), cancellationToken: Stop).ResponseAsync);
                Assert.Equal(
                    (StatusCode.Unauthenticated, ErrorReasons.CertificateExpired),
                    (refused.StatusCode, refused.Reason()));
                return _connections.Closed > 0;
            },
            Stop);
        Assert.Single(_proxy.Backend.Commands);
        // Who has no certificate is not concerned.
        using var tokens = TokenIssuer.Of(_proxy.Tokens.Pem, _time);
        await _proxy.Client(tokens.Issue("somebody", ["payments:write"], ["*/*"], TimeSpan.FromMinutes(5)))
            .MakePaymentAsync(Samples.Payment(), cancellationToken: Stop);
    }

    [Theory]
    [InlineData("1.1")]
    [InlineData("2.0")]
    public async Task A_request_of_REST_is_answered_with_the_reason_and_its_connection_ends(string version)
    {
        using var http = new HttpClient(_connections.On(_proxy.Handler(_shop)))
        {
            BaseAddress = _proxy.Rest,
            DefaultRequestVersion = Version.Parse(version),
            DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
        using var answer = await http.GetAsync(new Uri("/health/live", UriKind.Relative), Stop);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);

        MoveTo(TimeSpan.FromSeconds(1));

        using var refused = await http.GetAsync(new Uri("/health/live", UriKind.Relative), Stop);
        var problem = await refused.Content.ReadFromJsonAsync<JsonElement>(Stop);
        Assert.Equal(
            (HttpStatusCode.Unauthorized, ErrorReasons.CertificateExpired),
            (refused.StatusCode, problem.GetProperty("reason").GetString()));
        await Poll.UntilAsync(() => _connections.Closed > 0, Stop);
    }

    [Theory]
    [InlineData(null, ErrorReasons.CertificateExpired)]
    [InlineData(59, ErrorReasons.TokenExpired)]
    [InlineData(61, ErrorReasons.CertificateExpired)]
    public async Task A_stream_ends_when_the_certificate_of_its_connection_or_its_token_expires(
        int? tokenSeconds, string reason)
    {
        using var channel = Channel();
        MoveTo(TimeSpan.FromMinutes(-1));
        using var tokens = TokenIssuer.Of(_proxy.Tokens.Pem, _time);
        var headers = new Metadata();
        if (tokenSeconds is { } seconds)
        {
            var token = tokens.Issue("somebody", ["payments:write"], ["*/*"], TimeSpan.FromSeconds(seconds));
            headers.Add("authorization", $"Bearer {token}");
        }
        using var stream = new BillingService.BillingServiceClient(channel).MakePayments(
            headers, cancellationToken: Stop);
        await stream.RequestStream.WriteAsync(Samples.Payment(), Stop);
        Assert.True(await stream.ResponseStream.MoveNext(Stop));

        _time.Advance(TimeSpan.FromMinutes(1));

        var ended = await Assert.ThrowsAsync<RpcException>(() => stream.ResponseStream.MoveNext(Stop));
        Assert.Equal((StatusCode.Unauthenticated, reason), (ended.StatusCode, ended.Reason()));
    }

    // Sets the wall clock to a time after the certificate's end; no timer fires.
    private void MoveTo(TimeSpan afterEnd)
    {
        using var certificate = X509Certificate2.CreateFromPem(_shop);
        _time.Set(new DateTimeOffset(certificate.NotAfter) + afterEnd - _time.GetUtcNow());
    }

    private GrpcChannel Channel() => GrpcChannel.ForAddress(
        _proxy.Grpc, new GrpcChannelOptions { HttpHandler = _connections.On(_proxy.Handler(_shop)) });
}
