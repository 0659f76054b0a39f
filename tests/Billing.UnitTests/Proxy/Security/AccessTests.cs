using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Operator.Credentials;
using Billing.Proxy.Calls;
using Billing.Proxy.Security.Tokens;
using Billing.UnitTests.Proxy.Rest;
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
    public async Task A_token_with_the_scope_and_the_account_may_pay()
    {
        var client = _proxy.Client(_proxy.Token("payments:write", "*/*"));

        await client.MakePaymentAsync(Samples.Payment());
        await client.MakePaymentAsync(Samples.Payment());

        Assert.Equal(2, _proxy.Backend.Commands.Count);
    }

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
    public async Task A_call_without_a_token_is_refused_and_not_forwarded()
    {
        await RefusedAsync(_proxy.Client(), StatusCode.Unauthenticated, ErrorReasons.TokenMissing);
    }

    [Theory]
    [InlineData("accounts:read")]
    [InlineData("payments:writer")]
    [InlineData("operations:read")]
    public async Task A_token_without_the_scope_is_refused_with_the_name_of_the_scope(string scopes)
    {
        var refused = await RefusedAsync(
            _proxy.Client(_proxy.Token(scopes, "*/*")), StatusCode.PermissionDenied, ErrorReasons.ScopeMissing);

        Assert.Contains("payments:write", refused.Status.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(ApiMethods.Unary), MemberType = typeof(ApiMethods))]
    public async Task A_method_needs_its_scope_and_the_account_and_that_of_operators_their_address(string method)
    {
        var request = MessageIds.RequestOf(ApiMethods.Of(method).InputType);
        var scope = RequestKinds.OfCallers(request.Descriptor).Scope!;
        var address = Scopes.IsForOperators(scope) ? _proxy.Admin : _proxy.Grpc;
        _proxy.Backend.Answer = command => Task.FromResult(CompleteReplies.To(command));

        var others = await RefusedAsync(string.Join(' ', Scopes.All.Except([scope])), "*/*", address);
        var elsewhere = await RefusedAsync(scope, "mastercard/another", address);

        Assert.Equal((StatusCode.PermissionDenied, ErrorReasons.ScopeMissing), (others.StatusCode, others.Reason()));
        Assert.Equal(
            (StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed), (elsewhere.StatusCode, elsewhere.Reason()));
        if (Scopes.IsForOperators(scope))
        {
            Assert.Equal(StatusCode.Unimplemented, (await RefusedAsync(scope, "*/*", _proxy.Grpc)).StatusCode);
        }
        Assert.Empty(_proxy.Backend.Commands);
        await CallAsync(scope, "mastercard/acct-1", address);
        Assert.Single(_proxy.Backend.Commands);

        Task<RpcException> RefusedAsync(string scopes, string accounts, Uri address) =>
            Assert.ThrowsAsync<RpcException>(() => CallAsync(scopes, accounts, address));

        Task CallAsync(string scopes, string accounts, Uri address) => ApiMethods.CallAsync(
            _proxy.Channel(address, _proxy.Token(scopes, accounts)).CreateCallInvoker(), method, request);
    }

    [Fact]
    public async Task Over_REST_what_is_for_operators_is_only_at_the_admin_address()
    {
        using var http = _proxy.Http(_proxy.Token(string.Join(' ', Scopes.All), "*/*"));
        var operations = ApiDocument.Recorded.Operations.Where(operation => operation.IsForOperators).ToList();

        Assert.NotEmpty(operations);
        foreach (var operation in operations)
        {
            using var request = operation.Request(_proxy.Rest, "{}");
            using var answer = await http.SendAsync(request, TestContext.Current.CancellationToken);
            Assert.Equal((operation.Id, HttpStatusCode.NotFound), (operation.Id, answer.StatusCode));
        }
        Assert.Empty(_proxy.Backend.Commands);
    }

    [Theory]
    [InlineData("visa/acct-2")]
    [InlineData("amex/other-1")]
    [InlineData("amex/*")]
    [InlineData("*/OTHER-1")]
    [InlineData("visa/other-12")]
    public async Task An_account_that_the_token_does_not_name_is_refused(string accounts)
    {
        var client = _proxy.Client(_proxy.Token("payments:write accounts:read", accounts));
        var payment = Samples.Payment("other-1");

        var refused = await Assert.ThrowsAsync<RpcException>(() => client.MakePaymentAsync(payment).ResponseAsync);
        var unread = await Assert.ThrowsAsync<RpcException>(
            () => client.CheckBalanceAsync(
                new CheckBalanceRequest { AccountId = "other-1", PaymentType = PaymentType.Visa }).ResponseAsync);

        var unlisted = await Assert.ThrowsAsync<RpcException>(
            () => client.ListStatementAsync(
                new ListStatementRequest { AccountId = "other-1", PaymentType = PaymentType.Visa }).ResponseAsync);
        var past = await Assert.ThrowsAsync<RpcException>(
            () => client.GetBalanceAtAsync(new GetBalanceAtRequest
            {
                AccountId = "other-1",
                PaymentType = PaymentType.Visa,
                Version = 1,
            }).ResponseAsync);

        Assert.All([refused, unread, unlisted, past], e => Assert.Equal(
            (StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed), (e.StatusCode, e.Reason())));
        Assert.Empty(_proxy.Backend.Commands);
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

    [Theory]
    [InlineData(null, HttpStatusCode.Unauthorized, ErrorReasons.TokenMissing)]
    [InlineData("accounts:read", HttpStatusCode.Forbidden, ErrorReasons.ScopeMissing)]
    [InlineData("payments:write", HttpStatusCode.Forbidden, ErrorReasons.AccountNotAllowed)]
    public async Task The_link_to_the_status_of_a_payment_gives_no_access_to_its_account(
        string? scopes, HttpStatusCode status, string reason)
    {
        using var http = _proxy.Http(scopes is null ? null : _proxy.Token(scopes, "visa/acct-1"));

        using var refused = await http.GetAsync(
            new Uri(
                _proxy.Rest,
                $"/v1/payments/{Samples.TransactionId}/status?link={StatusLink.Of(Samples.Payment("acct-2"), 0)}"),
            TestContext.Current.CancellationToken);
        using var problem = JsonDocument.Parse(
            await refused.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));

        Assert.Equal((status, reason), (refused.StatusCode, problem.RootElement.GetProperty("reason").GetString()));
        Assert.Empty(_proxy.Backend.Commands);
    }

    [Fact]
    public async Task A_token_without_accounts_has_access_to_none()
    {
        await RefusedAsync(
            _proxy.Client(_proxy.Token("payments:write")), StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed);
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
    public async Task Over_REST_a_refusal_has_the_HTTP_status_and_the_reason()
    {
        using var nobody = _proxy.Http();
        using var reader = _proxy.Http(_proxy.Token("accounts:read", "visa/acct-1"));
        var balance = new Uri(_proxy.Rest, "/v1/accounts/VISA/acct-2/balance");
        var payment = new Uri(_proxy.Rest, "/v1/payments/" + Samples.TransactionId);

        var unknown = await nobody.GetAsync(balance, TestContext.Current.CancellationToken);
        var notTheirs = await reader.GetAsync(balance, TestContext.Current.CancellationToken);
        var mayNot = await reader.PutAsJsonAsync(payment, new { }, TestContext.Current.CancellationToken);

        Assert.Equal(
            (HttpStatusCode.Unauthorized, ErrorReasons.TokenMissing), (unknown.StatusCode, await ReasonAsync(unknown)));
        Assert.Equal("Bearer", unknown.Headers.WwwAuthenticate.ToString());
        Assert.Equal(
            (HttpStatusCode.Forbidden, ErrorReasons.AccountNotAllowed),
            (notTheirs.StatusCode, await ReasonAsync(notTheirs)));
        Assert.Equal(
            (HttpStatusCode.Forbidden, ErrorReasons.ScopeMissing), (mayNot.StatusCode, await ReasonAsync(mayNot)));
        Assert.Empty(_proxy.Backend.Commands);
    }

    [Theory]
    [InlineData("/", null, HttpStatusCode.OK)]
    [InlineData("/live/events", null, HttpStatusCode.Unauthorized)]
    [InlineData("/live/events", "payments:write accounts:read", HttpStatusCode.Forbidden)]
    [InlineData("/live/events", "operations:read", HttpStatusCode.OK)]
    public async Task The_pages_for_operators_are_only_at_the_admin_address(
        string path, string? scopes, HttpStatusCode status)
    {
        using var http = _proxy.Http(scopes is null ? null : _proxy.Token(scopes, "*/*"));

        using var answer = await http.GetAsync(
            new Uri(_proxy.Admin, path), HttpCompletionOption.ResponseHeadersRead,
            TestContext.Current.CancellationToken);
        using var publicly = await http.GetAsync(
            new Uri(_proxy.Rest, path), HttpCompletionOption.ResponseHeadersRead,
            TestContext.Current.CancellationToken);

        Assert.Equal(status, answer.StatusCode);
        Assert.Equal(HttpStatusCode.NotFound, publicly.StatusCode);
    }

    [Fact]
    public async Task The_metrics_are_only_at_the_admin_address()
    {
        await using var proxy = await SecureProxy.StartAsync(new() { ["Billing:Telemetry:Prometheus"] = "true" });
        using var http = proxy.Http(null);

        Assert.Equal(
            HttpStatusCode.OK,
            (await http.GetAsync(new Uri(proxy.Admin, "/metrics"), TestContext.Current.CancellationToken)).StatusCode);
        Assert.Equal(
            HttpStatusCode.NotFound,
            (await http.GetAsync(new Uri(proxy.Rest, "/metrics"), TestContext.Current.CancellationToken)).StatusCode);
    }

    [Theory]
    [InlineData(HttpStatusCode.Forbidden, "visa/acct-1", "visa/*")]
    [InlineData(HttpStatusCode.OK, "visa/acct-1", "*/*")]
    public async Task The_live_page_shows_all_accounts_and_is_shown_only_to_who_may_access_all(
        HttpStatusCode status, params string[] accounts)
    {
        using var http = _proxy.Http(_proxy.Token("operations:read", accounts));

        using var answer = await http.GetAsync(
            new Uri(_proxy.Admin, "/live/events"), HttpCompletionOption.ResponseHeadersRead,
            TestContext.Current.CancellationToken);

        Assert.Equal(status, answer.StatusCode);
        Assert.True(status == HttpStatusCode.OK || await ReasonAsync(answer) == ErrorReasons.AccountNotAllowed);
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

    private static async Task<string?> ReasonAsync(HttpResponseMessage answer) =>
        (await answer.Content.ReadFromJsonAsync<JsonElement>(TestContext.Current.CancellationToken))
            .GetProperty("reason").GetString();
}
