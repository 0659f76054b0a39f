using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Billing.Contracts;
using Billing.Operator.Credentials;
using Billing.UnitTests.Testing;
using Grpc.Core;
using Grpc.Net.Client;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>The certificates of the proxy and of its callers.</summary>
public sealed class TlsTests
{
    [Fact]
    public async Task A_client_certificate_of_the_authority_replaces_a_token()
    {
        await using var proxy = await SecureProxy.StartAsync(SecureProxy.Listed("shop"));
        var client = proxy.Client(clientPem: proxy.Authority.Client("shop"));

        await client.MakePaymentAsync(Samples.Payment());
        var unread = await Assert.ThrowsAsync<RpcException>(
            () => client.CheckBalanceAsync(Samples.Balance()).ResponseAsync);

        Assert.Equal(ErrorReasons.ScopeMissing, unread.Reason());
    }

    [Fact]
    public async Task Each_certificate_in_the_settings_has_its_own_accounts_and_scopes_and_others_have_none()
    {
        await using var proxy = await SecureProxy.StartAsync(new()
        {
            ["Billing:Auth:Certificates:shop:Accounts"] = "visa/acct-1 */shop-7",
            ["Billing:Auth:Certificates:shop:Scopes"] = "payments:write",
            ["Billing:Auth:Certificates:reader:Accounts"] = "*/*",
            ["Billing:Auth:Certificates:reader:Scopes"] = "accounts:read",
        });
        var shop = proxy.Client(clientPem: proxy.Authority.Client("shop"));
        var reader = proxy.Client(clientPem: proxy.Authority.Client("reader"));
        var other = proxy.Client(clientPem: proxy.Authority.Client("Shop"));

        await shop.MakePaymentAsync(Of("acct-1"));
        await shop.MakePaymentAsync(Of("shop-7"));

        Assert.Equal(ErrorReasons.AccountNotAllowed, await ReasonAsync(shop, "acct-11"));
        Assert.Equal(ErrorReasons.ScopeMissing, await ReasonAsync(reader, "acct-1"));
        Assert.Equal(ErrorReasons.ScopeMissing, await ReasonAsync(other, "acct-1"));
        Assert.Equal(2, proxy.Backend.Commands.Count);
    }

    [Fact]
    public async Task A_misspelt_setting_of_a_certificate_and_settings_without_an_authority_are_named()
    {
        var misspelt = await Assert.ThrowsAsync<OptionsValidationException>(() => SecureProxy.StartAsync(new()
        {
            ["Billing:Auth:Certificates:shop:Accounts"] = "*/*",
            ["Billing:Auth:Certificates:shop:Scopes"] = "accounts:manage",
            ["Billing:Auth:Certificates:shop:Scope"] = "accounts:manage",
        }));
        var useless = await Assert.ThrowsAsync<OptionsValidationException>(() => SecureProxy.StartAsync(
            new(SecureProxy.Listed("shop")) { ["Billing:Tls:ClientCaFile"] = "" }));

        Assert.Equal(
            "Billing:Auth:Certificates:shop:Scope is not a setting; "
                + "Billing:Auth:Certificates:shop has Accounts, Scopes, Authority.", Assert.Single(misspelt.Failures));
        Assert.Equal("Billing:Auth:Certificates needs Billing:Tls:ClientCaFile.", Assert.Single(useless.Failures));
    }

    [Fact]
    public async Task If_client_certificates_are_required_a_caller_without_a_valid_one_cannot_connect()
    {
        await using var proxy = await SecureProxy.StartAsync(
            new(SecureProxy.Listed("shop")) { ["Billing:Tls:RequireClientCertificate"] = "true" }, tokens: false);
        using var stranger = new CertificateAuthority("Another CA", TimeProvider.System);

        await proxy.Client(clientPem: proxy.Authority.Client("shop")).MakePaymentAsync(Samples.Payment());
        var none = await Assert.ThrowsAsync<RpcException>(
            () => proxy.Client().MakePaymentAsync(Samples.Payment()).ResponseAsync);
        var foreign = await Assert.ThrowsAsync<RpcException>(
            () => proxy.Client(clientPem: stranger.Client("shop")).MakePaymentAsync(Samples.Payment()).ResponseAsync);
        var ofServer = await Assert.ThrowsAsync<RpcException>(
            () => proxy.Client(clientPem: proxy.Authority.Server("shop"))
                .MakePaymentAsync(Samples.Payment()).ResponseAsync);

        Assert.All(
            [none, foreign, ofServer],
            e => Assert.Contains(e.StatusCode, (StatusCode[])[StatusCode.Internal, StatusCode.Unavailable]));
        Assert.Single(proxy.Backend.Commands);
    }

    [Fact]
    public async Task Nothing_is_downloaded_from_where_a_strangers_certificate_says()
    {
        await using var proxy = await SecureProxy.StartAsync();
        using var stranger = new CertificateAuthority("Another CA", TimeProvider.System);
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var address = new Uri($"http://{listener.LocalEndpoint}/issuer.crt");

        await Assert.ThrowsAsync<RpcException>(
            () => proxy.Client(clientPem: stranger.Client("shop", address))
                .MakePaymentAsync(Samples.Payment()).ResponseAsync);

        Assert.False(listener.Pending());
    }

    [Fact]
    public async Task A_new_certificate_is_used_for_new_connections_unless_it_is_invalid()
    {
        var time = new ManualTime();
        await using var proxy = await SecureProxy.StartAsync(time: time);
        var first = await ThumbprintAsync(proxy);

        await File.WriteAllTextAsync(
            proxy.CertificateFile, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            TestContext.Current.CancellationToken);
        time.Advance(TimeSpan.FromSeconds(2));
        var kept = await ThumbprintAsync(proxy);
        var next = proxy.Authority.Server("next");
        await File.WriteAllTextAsync(proxy.CertificateFile, next, TestContext.Current.CancellationToken);
        time.Advance(TimeSpan.FromSeconds(2));
        var changed = await ThumbprintAsync(proxy);

        using var expected = X509Certificate2.CreateFromPem(next);
        Assert.Equal(first, kept);
        Assert.Equal(expected.Thumbprint, changed);
    }

    private static V1.MakePaymentRequest Of(string account)
    {
        var payment = Samples.Payment();
        payment.AccountId = account;
        return payment;
    }

    private static async Task<string?> ReasonAsync(V1.BillingService.BillingServiceClient client, string account) =>
        (await Assert.ThrowsAsync<RpcException>(() => client.MakePaymentAsync(Of(account)).ResponseAsync)).Reason();

    private static async Task<string> ThumbprintAsync(SecureProxy proxy)
    {
        var thumbprint = "";
        using var http = new HttpClient(proxy.Handler(seen: certificate => thumbprint = certificate.Thumbprint));
        using var channel = GrpcChannel.ForAddress(proxy.Grpc, new GrpcChannelOptions { HttpClient = http });
        await new Grpc.Health.V1.Health.HealthClient(channel).CheckAsync(
            new(), cancellationToken: TestContext.Current.CancellationToken);
        return thumbprint;
    }
}
