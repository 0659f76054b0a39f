using System.Security.Cryptography;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Operator.Credentials;
using Billing.Proxy.Security.Tokens;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;

namespace Billing.UnitTests.Proxy.Security.Tokens;

/// <summary>The keys that verify tokens, as the issuer publishes and removes them.</summary>
public sealed class SigningKeysTests : IAsyncLifetime
{
    // Longer than the time between two readings, and with a reading that takes its whole time below a minute.
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(30);

    // After this time the issuer may be asked for a key that is not known.
    private static readonly TimeSpan Again = TimeSpan.FromSeconds(6);

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(3);

    private readonly ManualTime _time = new();
    private readonly FakeLoggerProvider _logs = new();
    private TokenIssuer _first = null!;
    private TokenIssuer _second = null!;
    private AuthorityServer _authority = null!;

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        (_first, _second) = (TokenIssuer.New(_time), TokenIssuer.New(_time));
        _authority = await AuthorityServer.StartAsync(_first.Jwks);
    }

    public ValueTask DisposeAsync()
    {
        _first.Dispose();
        _second.Dispose();
        return _authority.DisposeAsync();
    }

    [Theory]
    [InlineData(true, "another key")]
    [InlineData(true, "no key")]
    [InlineData(false, "another key")]
    [InlineData(false, "no key")]
    [InlineData(false, "another key under the same id")]
    public async Task A_key_that_is_removed_is_gone_within_a_minute_for_known_tokens_new_ones_and_open_streams(
        bool isFile, string published)
    {
        await using var proxy = await StartAsync(isFile);
        var client = proxy.Client(Token(_first, "one"));
        await client.MakePaymentAsync(Samples.Payment());
        using var stream = client.MakePayments(cancellationToken: Stop);
        await stream.RequestStream.WriteAsync(Samples.Payment(), Stop);
        Assert.True(await stream.ResponseStream.MoveNext(Stop));

        var jwks = published switch
        {
            "no key" => """{"keys":[]}""",
            "another key" => _second.Jwks,
            _ => _second.Jwks.Replace(IdOf(_second.Jwks), IdOf(_first.Jwks), StringComparison.Ordinal),
        };
        _authority.Jwks = jwks;
        await File.WriteAllTextAsync(proxy.JwksFile, jwks, Stop);
        _time.Advance(Soon);

        var ended = await Assert.ThrowsAsync<RpcException>(
            () => stream.ResponseStream.MoveNext(Stop).WaitAsync(Patience, Stop));
        Assert.Equal((StatusCode.Unauthenticated, ErrorReasons.TokenExpired), (ended.StatusCode, ended.Reason()));
        Assert.Contains("key", ended.Status.Detail, StringComparison.Ordinal);
        Assert.Equal(ErrorReasons.TokenInvalid, await ReasonAsync(client));
        Assert.Equal(ErrorReasons.TokenInvalid, await ReasonAsync(proxy.Client(Token(_first, "two"))));
        Assert.Contains(
            _logs.Collector.GetSnapshot(),
            line => line.Message.Contains("are refused, and their streams end", StringComparison.Ordinal));
    }

    [Fact]
    public async Task What_a_key_that_stays_has_signed_goes_on_when_another_is_removed()
    {
        _authority.Jwks = $$"""{"keys":[{{KeyOf(_first.Jwks)}},{{KeyOf(_second.Jwks)}}]}""";
        await using var proxy = await StartAsync();
        var client = proxy.Client(Token(_second, "one"));
        using var stream = client.MakePayments(cancellationToken: Stop);
        await stream.RequestStream.WriteAsync(Samples.Payment(), Stop);
        Assert.True(await stream.ResponseStream.MoveNext(Stop));

        _authority.Jwks = _second.Jwks;
        _time.Advance(Soon);
        await Poll.UntilAsync(() => Keys(proxy).Count == 1);

        await stream.RequestStream.WriteAsync(Samples.Payment(), Stop);
        Assert.True(await stream.ResponseStream.MoveNext(Stop));
    }

    [Fact]
    public async Task A_new_key_is_used_as_soon_as_it_is_published_and_unknown_ones_are_asked_for_once_in_five_seconds()
    {
        await using var proxy = await StartAsync();
        await proxy.Client(Token(_first, "one")).MakePaymentAsync(Samples.Payment());
        _time.Advance(Again);
        var asked = _authority.Asked;

        for (var i = 0; i < 5; i++)
        {
            Assert.Equal(ErrorReasons.TokenInvalid, await ReasonAsync(proxy.Client(Token(_second, $"{i}"))));
        }
        Assert.Equal(asked + 1, _authority.Asked);
        _authority.Jwks = _second.Jwks;
        _time.Advance(Again);

        await proxy.Client(Token(_second, "one")).MakePaymentAsync(Samples.Payment());
    }

    [Fact]
    public async Task An_authority_that_never_answered_makes_the_proxy_unready_and_calls_unavailable_until_it_does()
    {
        _authority.Instead = http =>
        {
            http.Response.StatusCode = StatusCodes.Status503ServiceUnavailable;
            return Task.CompletedTask;
        };
        await using var proxy = await StartAsync(
            settings: new() { ["Billing:Limits:InvalidTokensPerMinute"] = "1" });
        var client = proxy.Client(Token(_first, "one"));

        // More than any address may have invalid.
        for (var i = 0; i < 10; i++)
        {
            var refused = await RefusedAsync(proxy.Client(Token(_first, $"{i}")));
            Assert.Equal(
                (StatusCode.Unavailable, ErrorReasons.KeysUnavailable), (refused.StatusCode, refused.Reason()));
            Assert.NotNull(refused.Trailers.GetValue(Trailers.RetryPushback));
        }
        Assert.Equal("the keys that verify tokens were not read yet", Assert.Single(Readiness(proxy).Reasons));
        _authority.Instead = null;
        _time.Advance(Again);
        await Poll.UntilAsync(() => Readiness(proxy).Reasons.Count == 0);

        await client.MakePaymentAsync(Samples.Payment());
    }

    [Fact]
    public async Task Keys_stay_while_their_authority_does_not_answer_which_the_log_says_once_and_go_when_it_does()
    {
        await using var proxy = await StartAsync();
        await proxy.Client(Token(_first, "one")).MakePaymentAsync(Samples.Payment());
        var read = _time.GetUtcNow() - Keys(proxy).Age!.Value;

        _authority.Instead = http =>
        {
            http.Response.StatusCode = StatusCodes.Status502BadGateway;
            return Task.CompletedTask;
        };
        var enough = _authority.Asked + 5;
        await Poll.UntilAsync(() =>
        {
            _time.Advance(Again);
            return _authority.Asked >= enough;
        });
        await proxy.Client(Token(_first, "two")).MakePaymentAsync(Samples.Payment());
        Assert.Equal(ErrorReasons.KeysUnavailable, await ReasonAsync(proxy.Client(Token(_second, "one"))));
        Assert.Equal(_time.GetUtcNow() - read, Keys(proxy).Age);
        Assert.Single(_logs.Collector.GetSnapshot(), line => line.Level == LogLevel.Error);

        (_authority.Jwks, _authority.Instead) = (_second.Jwks, null);
        await Poll.UntilAsync(() =>
        {
            _time.Advance(Again);
            return Keys(proxy).Age < Soon;
        });

        Assert.Equal(ErrorReasons.TokenInvalid, await ReasonAsync(proxy.Client(Token(_first, "two"))));
        await proxy.Client(Token(_second, "one")).MakePaymentAsync(Samples.Payment());
    }

    [Theory]
    [InlineData("{}")]
    [InlineData("[]")]
    [InlineData("no JSON")]
    [InlineData("""{"issuer":"billing"}""")]
    [InlineData("""{"issuer":"billing","jwks_uri":7}""")]
    [InlineData("""{"issuer":"billing","jwks_uri":"\ud800"}""")]
    [InlineData("""{"jwks_uri":"AUTHORITY/keys"}""")]
    [InlineData("""{"issuer":"billing","jwks_uri":"http://keys.example/keys"}""")]
    [InlineData("""{"issuer":"billing","jwks_uri":"file:///etc/hostname"}""")]
    [InlineData("large")]
    [InlineData("elsewhere")]
    public async Task An_authority_whose_configuration_is_of_no_use_is_named_in_the_log_with_what_is_wrong(string text)
    {
        _authority.Instead = async http =>
        {
            if (text == "elsewhere")
            {
                http.Response.Redirect(_authority.Address + "/.well-known/openid-configuration/other");
                return;
            }
            await http.Response.WriteAsync(
                text == "large" ? new string(' ', 2_000_000) + "{}"
                : text.Replace("AUTHORITY", _authority.Address, StringComparison.Ordinal));
        };
        await using var proxy = await StartAsync();

        Assert.Equal(ErrorReasons.KeysUnavailable, await ReasonAsync(proxy.Client(Token(_first, "one"))));
        var line = Assert.Single(_logs.Collector.GetSnapshot(), line => line.Level == LogLevel.Error);
        Assert.StartsWith(
            $"Billing:Auth:Authority ('{_authority.Address}') cannot be used", line.Message, StringComparison.Ordinal);
        Assert.Equal(1, _authority.Asked);
    }

    [Theory]
    [InlineData("""{"keys":[{"kty":"oct","k":"AAAA"}]}""")]
    [InlineData("""{"keys":[{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA","kid":"a"}]}""")]
    [InlineData("""{"keys":{}}""")]
    [InlineData("")]
    public async Task A_key_set_without_a_key_that_can_be_used_removes_none(string jwks)
    {
        await using var proxy = await StartAsync();
        await proxy.Client(Token(_first, "one")).MakePaymentAsync(Samples.Payment());

        _authority.Jwks = jwks;
        _time.Advance(Soon);
        await Poll.UntilAsync(() => _logs.Collector.GetSnapshot().Any(line => line.Level == LogLevel.Error));

        await proxy.Client(Token(_first, "two")).MakePaymentAsync(Samples.Payment());
    }

    [Theory]
    [InlineData(1024, false)]
    [InlineData(2048, true)]
    public void A_key_of_RSA_has_2048_bits_or_more_and_one_for_something_else_is_none(int bits, bool isUsed)
    {
        using var rsa = RSA.Create(bits);
        var key = rsa.ExportParameters(includePrivateParameters: false);
        var (n, e) = (Url(key.Modulus!), Url(key.Exponent!));

        Assert.Equal(isUsed ? 1 : 0, Count($$"""{"kty":"RSA","n":"{{n}}","e":"{{e}}"}"""));
        Assert.Equal(isUsed ? 1 : 0, Count($$"""{"kty":"RSA","n":"{{n}}","e":"{{e}}","alg":"PS512","use":"sig"}"""));
        Assert.Equal(0, Count($$"""{"kty":"RSA","n":"{{n}}","e":"{{e}}","use":"enc"}"""));
        Assert.Equal(0, Count($$"""{"kty":"RSA","n":"{{n}}","e":"{{e}}","key_ops":["encrypt"]}"""));
        Assert.Equal(0, Count($$"""{"kty":"RSA","n":"{{n}}","e":"{{e}}","alg":"HS256"}"""));

        static string Url(byte[] bytes) => System.Buffers.Text.Base64Url.EncodeToString(bytes);

        // Beside one that is always of use: without any, a set is refused.
        int Count(string jwk) => PublishedKeys.ReadKeys(System.Text.Encoding.UTF8.GetBytes(
            $$"""{"keys":[{{jwk}},{{KeyOf(_first.Jwks)}}]}""")).Count - 1;
    }

    private async Task<SecureProxy> StartAsync(bool isFile = false, Dictionary<string, string?>? settings = null)
    {
        settings ??= [];
        if (!isFile)
        {
            settings["Billing:Auth:Authority"] = _authority.Address;
            settings["Billing:Auth:JwksFile"] = "";
            settings["Billing:Auth:Issuer"] = "";
        }
        return await SecureProxy.StartAsync(settings, _time, logs: _logs, jwks: _first.Jwks);
    }

    private static SigningKeys Keys(SecureProxy proxy) => proxy.Host.Services.GetRequiredService<SigningKeys>();

    private static Readiness Readiness(SecureProxy proxy) => proxy.Host.Services.GetRequiredService<Readiness>();

    private static string Token(TokenIssuer issuer, string subject) =>
        issuer.Issue(subject, ["payments:write"], ["*/*"], TimeSpan.FromHours(1));

    private static Task<RpcException> RefusedAsync(BillingService.BillingServiceClient client) =>
        Assert.ThrowsAsync<RpcException>(() => client.MakePaymentAsync(Samples.Payment()).ResponseAsync);

    private static async Task<string?> ReasonAsync(BillingService.BillingServiceClient client) =>
        (await RefusedAsync(client)).Reason();

    private static string KeyOf(string jwks)
    {
        using var json = System.Text.Json.JsonDocument.Parse(jwks);
        return json.RootElement.GetProperty("keys")[0].GetRawText();
    }

    private static string IdOf(string jwks)
    {
        using var json = System.Text.Json.JsonDocument.Parse(jwks);
        return json.RootElement.GetProperty("keys")[0].GetProperty("kid").GetString()!;
    }
}
