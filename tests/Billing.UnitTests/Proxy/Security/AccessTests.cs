using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using Billing.Contracts;
using Billing.Operator.Credentials;
using Billing.Proxy.Security.Tokens;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;
using Grpc.Health.V1;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Testing;
using Xunit.Sdk;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>Authentication and authorisation of calls to a proxy.</summary>
public sealed class AccessTests : IAsyncLifetime
{
    private SecureProxy _proxy = null!;

    public async ValueTask InitializeAsync() => _proxy = await SecureProxy.StartAsync();

    public ValueTask DisposeAsync() => _proxy.DisposeAsync();

    [Fact]
    public async Task A_token_is_remembered_once_however_many_spaces_come_before_it()
    {
        var token = _proxy.Token("payments:write", "*/*");

        foreach (var spaces in (string[])["", " ", "   "])
        {
            await _proxy.Client(spaces + token).MakePaymentAsync(Samples.Payment());
        }

        Assert.Equal(3, _proxy.Backend.Commands.Count);
        Assert.Equal(1, _proxy.Host.Services.GetRequiredService<RememberedTokens>().Count);
    }

    [Fact]
    public async Task Refused_tokens_leave_one_line_a_minute_and_no_other()
    {
        var logs = new FakeLoggerProvider();
        await using var proxy = await SecureProxy.StartAsync(logs: logs);
        var before = logs.Collector.GetSnapshot().Count;

        for (var i = 0; i < 5; i++)
        {
            await Assert.ThrowsAsync<RpcException>(
                () => proxy.Client($"garbage{i}").MakePaymentAsync(Samples.Payment()).ResponseAsync);
        }

        Assert.Equal("Billing.Security", Assert.Single(logs.Collector.GetSnapshot().Skip(before)).Category);
    }

    [Fact]
    public async Task A_token_without_the_scope_is_refused_with_the_name_of_the_scope()
    {
        var refused = await RefusedAsync(
            _proxy.Client(_proxy.Token("payments:writer", "*/*")),
            StatusCode.PermissionDenied, ErrorReasons.ScopeMissing);

        Assert.Contains("payments:write", refused.Status.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_token_with_an_entry_of_another_form_is_invalid_and_the_error_names_the_entry()
    {
        var client = _proxy.Client(_proxy.Token("payments:write", "visa/acct-1", "acct-2"));

        var refused = await Assert.ThrowsAsync<RpcException>(
            () => client.MakePaymentAsync(Samples.Payment("acct-1")).ResponseAsync);

        Assert.Equal((StatusCode.Unauthenticated, ErrorReasons.TokenInvalid), (refused.StatusCode, refused.Reason()));
        Assert.Contains("billing_accounts has 'acct-2'", refused.Status.Detail, StringComparison.Ordinal);
        Assert.Empty(_proxy.Backend.Commands);
    }

    [Fact]
    public async Task On_a_stream_the_account_of_each_payment_is_checked()
    {
        var token = _proxy.Token("payments:write", "visa/" + Samples.Payment().AccountId);
        using var stream = _proxy.Client(token).MakePayments(cancellationToken: TestContext.Current.CancellationToken);
        await stream.RequestStream.WriteAsync(Samples.Payment());
        Assert.True(await stream.ResponseStream.MoveNext(TestContext.Current.CancellationToken));
        var own = stream.ResponseStream.Current;
        await stream.RequestStream.WriteAsync(Samples.Payment("somebody-else"));
        Assert.True(await stream.ResponseStream.MoveNext(TestContext.Current.CancellationToken));

        Assert.Equal(PaymentOutcome.Accepted, own.Payment.Outcome);
        Assert.Equal(ErrorReasons.AccountNotAllowed, stream.ResponseStream.Current.Error.Reason);
        Assert.Single(_proxy.Backend.Commands);
    }

    [Fact]
    public async Task An_expired_token_is_refused_as_expired()
    {
        var token = _proxy.Tokens.Issue("somebody", ["payments:write"], ["*/*"], -TimeSpan.FromMinutes(1));

        await RefusedAsync(_proxy.Client(token), StatusCode.Unauthenticated, ErrorReasons.TokenExpired);
    }

    [Theory]
    [InlineData("another key")]
    [InlineData("no algorithm")]
    [InlineData("the public key as a secret")]
    [InlineData("another audience")]
    [InlineData("a changed claim")]
    [InlineData("no token")]
    public async Task A_token_that_cannot_be_verified_is_refused(string fault)
    {
        using var stranger = TokenIssuer.New(TimeProvider.System);
        var good = _proxy.Token("payments:write", "*/*");
        var bad = fault switch
        {
            "another key" => stranger.Issue("somebody", ["payments:write"], ["*/*"], TimeSpan.FromMinutes(5)),
            "no algorithm" => Forged.Unsigned(good),
            "the public key as a secret" => Forged.WithSecret(good, Encoding.UTF8.GetBytes(_proxy.Tokens.Jwks)),
            "another audience" => Forged.Changed(good, "aud", "somebody-else"),
            "a changed claim" => Forged.Changed(good, "scope", "payments:write accounts:manage"),
            "no token" => "garbage",
            _ => throw new TestPipelineException(fault),
        };

        await RefusedAsync(_proxy.Client(bad), StatusCode.Unauthenticated, ErrorReasons.TokenInvalid);
    }

    [Fact]
    public async Task Over_REST_who_has_no_token_is_told_to_send_one()
    {
        using var nobody = _proxy.Http();

        using var refused = await nobody.GetAsync(
            new Uri(_proxy.Rest, "/v1/accounts/VISA/acct-2/balance"), TestContext.Current.CancellationToken);

        Assert.Equal("Bearer", refused.Headers.WwwAuthenticate.ToString());
    }

    [Theory]
    [InlineData("/")]
    [InlineData("/metrics")]
    public async Task A_page_that_needs_no_token_is_only_at_the_admin_address(string path)
    {
        await using var proxy = await SecureProxy.StartAsync(new() { ["Billing:Telemetry:Prometheus"] = "true" });
        using var http = proxy.Http();

        using var answer = await http.GetAsync(new Uri(proxy.Admin, path), TestContext.Current.CancellationToken);
        using var publicly = await http.GetAsync(new Uri(proxy.Rest, path), TestContext.Current.CancellationToken);

        Assert.Equal((HttpStatusCode.OK, HttpStatusCode.NotFound), (answer.StatusCode, publicly.StatusCode));
    }

    [Fact]
    public async Task Who_may_not_access_all_accounts_is_told_so_by_the_live_page()
    {
        using var http = _proxy.Http(_proxy.Token("operations:read", "visa/acct-1", "visa/*"));

        using var refused = await http.GetAsync(
            new Uri(_proxy.Admin, "/live/events"), TestContext.Current.CancellationToken);

        var problem = await refused.Content.ReadFromJsonAsync<JsonElement>(TestContext.Current.CancellationToken);
        Assert.Equal(ErrorReasons.AccountNotAllowed, problem.GetProperty("reason").GetString());
    }

    [Fact]
    public async Task Health_and_the_OpenAPI_document_need_no_token()
    {
        using var http = _proxy.Http();

        var health = await new Health.HealthClient(_proxy.Channel()).CheckAsync(new HealthCheckRequest());
        using var ready = await http.GetAsync(
            new Uri(_proxy.Rest, "/health/ready"), TestContext.Current.CancellationToken);
        using var description = await http.GetAsync(
            new Uri(_proxy.Rest, "/openapi/v1.json"), TestContext.Current.CancellationToken);
        using var page = await http.GetAsync(
            new Uri(_proxy.Rest, "/docs/index.html"), TestContext.Current.CancellationToken);
        using var nothing = await http.GetAsync(
            new Uri(_proxy.Rest, "/nothing"), TestContext.Current.CancellationToken);

        Assert.Equal(HealthCheckResponse.Types.ServingStatus.Serving, health.Status);
        Assert.All([ready, description, page], answer => Assert.Equal(HttpStatusCode.OK, answer.StatusCode));
        Assert.Equal(HttpStatusCode.Unauthorized, nothing.StatusCode);
    }

    [Fact]
    public async Task A_new_key_set_is_used_without_a_restart()
    {
        var time = new ManualTime();
        await using var proxy = await SecureProxy.StartAsync(time: time);
        using var next = TokenIssuer.New(time);
        var token = next.Issue("somebody", ["payments:write"], ["*/*"], TimeSpan.FromMinutes(5));
        await Assert.ThrowsAsync<RpcException>(
            () => proxy.Client(token).MakePaymentAsync(Samples.Payment()).ResponseAsync);

        await File.WriteAllTextAsync(proxy.JwksFile, next.Jwks, TestContext.Current.CancellationToken);
        time.Advance(TimeSpan.FromSeconds(2));

        await proxy.Client(token).MakePaymentAsync(Samples.Payment());
    }

    [Fact]
    public async Task If_a_new_key_set_cannot_be_read_the_previous_one_stays_in_use()
    {
        var time = new ManualTime();
        await using var proxy = await SecureProxy.StartAsync(time: time);
        var good = proxy.Tokens.Issue("one", ["payments:write"], ["*/*"], TimeSpan.FromMinutes(5));
        await proxy.Client(good).MakePaymentAsync(Samples.Payment());

        await File.WriteAllTextAsync(proxy.JwksFile, "{", TestContext.Current.CancellationToken);
        time.Advance(TimeSpan.FromSeconds(2));

        var other = proxy.Tokens.Issue("two", ["payments:write"], ["*/*"], TimeSpan.FromMinutes(5));
        await proxy.Client(other).MakePaymentAsync(Samples.Payment());
    }

    [Fact]
    public async Task A_token_that_was_valid_is_refused_after_it_has_expired()
    {
        var time = new ManualTime();
        await using var proxy = await SecureProxy.StartAsync(new() { ["Billing:Auth:ClockSkew"] = "00:00:00" }, time);
        using var issuer = TokenIssuer.Of(proxy.Tokens.Pem, time);
        var client = proxy.Client(issuer.Issue("somebody", ["payments:write"], ["*/*"], TimeSpan.FromSeconds(30)));
        await client.MakePaymentAsync(Samples.Payment());

        time.Advance(TimeSpan.FromSeconds(31));

        await RefusedAsync(client, StatusCode.Unauthenticated, ErrorReasons.TokenExpired, commands: 1, proxy);
    }

    private Task<RpcException> RefusedAsync(
        BillingService.BillingServiceClient client, StatusCode status, string reason) =>
        RefusedAsync(client, status, reason, commands: 0, _proxy);

    private static async Task<RpcException> RefusedAsync(
        BillingService.BillingServiceClient client, StatusCode status, string reason, int commands, SecureProxy proxy)
    {
        var refused = await Assert.ThrowsAsync<RpcException>(
            () => client.MakePaymentAsync(Samples.Payment()).ResponseAsync);

        Assert.Equal((status, reason), (refused.StatusCode, refused.Reason()));
        Assert.Equal(commands, proxy.Backend.Commands.Count);
        return refused;
    }
}
