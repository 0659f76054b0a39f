using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using System.Text.Json.Nodes;
using Billing.Contracts;
using Billing.Operator.Credentials;
using Billing.Proxy.Security.Tokens;
using Billing.UnitTests.Testing;
using Microsoft.IdentityModel.Tokens;

namespace Billing.UnitTests.Proxy.Security.Tokens;

/// <summary>An address that sends many invalid tokens, and the others at that address. Each client has a connection
/// of its own, which it keeps.</summary>
public sealed class InvalidTokenTests : IAsyncLifetime
{
    private const int OfAddress = 3;

    private readonly ManualTime _time = new();
    private SecureProxy _proxy = null!;
    private TokenIssuer _tokens = null!;
    private int _forged;

    public async ValueTask InitializeAsync()
    {
        _proxy = await SecureProxy.StartAsync(
            new() { ["Billing:Limits:InvalidTokensPerMinute"] = $"{OfAddress}" }, _time);
        _proxy.Backend.Answer = command => Task.FromResult(CompleteReplies.To(command));
        _tokens = TokenIssuer.Of(_proxy.Tokens.Pem, _time);
    }

    public ValueTask DisposeAsync()
    {
        _tokens.Dispose();
        return _proxy.DisposeAsync();
    }

    [Fact]
    public async Task Beyond_the_limit_tokens_are_refused_unchecked_with_the_time_until_another_one_is_checked()
    {
        using var attacker = _proxy.Http();
        await SendInvalidAsync(attacker, InvalidTokens.OfConnection + OfAddress);

        using var refused = await GetAsync(attacker, Forge());
        using var none = await GetAsync(attacker, null);

        Assert.Equal(
            (HttpStatusCode.TooManyRequests, ErrorReasons.CallerLimitReached),
            (refused.StatusCode, await ReasonAsync(refused)));
        Assert.Equal(TimeSpan.FromSeconds(60 / OfAddress), refused.Headers.RetryAfter!.Delta);
        Assert.Equal(HttpStatusCode.Unauthorized, none.StatusCode);
        _time.Advance(TimeSpan.FromSeconds(60 / OfAddress));
        await SendInvalidAsync(attacker, 1);
    }

    [Fact]
    public async Task Six_hundred_invalid_tokens_shut_out_neither_new_callers_nor_known_ones_at_the_same_address()
    {
        using var known = _proxy.Http();
        using var attacker = _proxy.Http();
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(known, Token("known")));
        for (var i = 0; i < 600; i++)
        {
            await StatusAsync(attacker, Forge());
        }
        Assert.Equal(HttpStatusCode.TooManyRequests, await StatusAsync(attacker, Forge()));

        Assert.Equal(HttpStatusCode.OK, await StatusAsync(known, Token("known")));
        using var other = _proxy.Http();
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(other, Token("other")));
        // As behind a gateway that has one connection for all.
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(attacker, Token("known", minutes: 6)));
        Assert.Equal(HttpStatusCode.TooManyRequests, await StatusAsync(attacker, Token("a stranger")));
    }

    [Fact]
    public async Task Who_forges_the_tokens_of_a_known_caller_does_not_shut_it_out()
    {
        using var known = _proxy.Http();
        using var attacker = _proxy.Http();
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(known, Token("known")));
        await SendInvalidAsync(attacker, InvalidTokens.OfConnection + (2 * OfAddress), "known");
        Assert.Equal(HttpStatusCode.TooManyRequests, await StatusAsync(attacker, Forge("known")));

        Assert.Equal(HttpStatusCode.OK, await StatusAsync(known, Token("known", minutes: 6)));
    }

    [Fact]
    public async Task Valid_tokens_count_nowhere_however_many_callers_share_a_connection()
    {
        using var gateway = _proxy.Http();
        for (var i = 0; i < 5 * (InvalidTokens.OfConnection + OfAddress); i++)
        {
            Assert.Equal(HttpStatusCode.OK, await StatusAsync(gateway, Token($"caller {i}")));
        }
    }

    /// <summary>What a token says costs nothing to read: only a signature that has to be checked counts.</summary>
    [Theory]
    [InlineData("garbage", "", "")]
    [InlineData("header", "alg", "\"none\"")]
    [InlineData("header", "alg", "\"HS256\"")]
    [InlineData("header", "alg", "\"ES512\"")]
    [InlineData("header", "typ", "\"logout+jwt\"")]
    [InlineData("header", "crit", "[\"b64\"]")]
    [InlineData("header", "kid", "\"another\"")]
    [InlineData("claims", "iss", "\"another\"")]
    [InlineData("claims", "aud", "\"another\"")]
    [InlineData("claims", "aud", "7")]
    [InlineData("claims", "exp", "1")]
    [InlineData("claims", "exp", "\"soon\"")]
    [InlineData("claims", "exp", null)]
    [InlineData("claims", "nbf", "4102444800")]
    public async Task A_token_that_is_refused_for_what_it_says_counts_nowhere(string part, string name, string? value)
    {
        using var http = _proxy.Http();
        for (var i = 0; i < 20; i++)
        {
            var token = part == "garbage" ? $"garbage{i}" : Altered(Forge(), part == "header" ? 0 : 1, name, value);
            Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(http, token));
        }

        await SendInvalidAsync(http, InvalidTokens.OfConnection + OfAddress);
        Assert.Equal(HttpStatusCode.TooManyRequests, await StatusAsync(http, Forge()));
    }

    // Right in all but its signature, and another one each time.
    private string Forge(string? subject = null) => Forged.Changed(
        Altered(Token("somebody"), 1, "jti", $"\"{++_forged}\""), "sub", subject ?? $"forged {_forged}");

    private string Token(string subject, int minutes = 5) =>
        _tokens.Issue(subject, ["accounts:read"], ["*/*"], TimeSpan.FromMinutes(minutes));

    private static string Altered(string token, int part, string name, string? value)
    {
        var parts = token.Split('.');
        var json = JsonNode.Parse(Base64UrlEncoder.Decode(parts[part]))!.AsObject();
        json[name] = value is null ? null : JsonNode.Parse(value);
        parts[part] = Base64UrlEncoder.Encode(json.ToJsonString());
        return string.Join('.', parts);
    }

    private async Task SendInvalidAsync(HttpClient http, int count, string? subject = null)
    {
        for (var i = 0; i < count; i++)
        {
            using var answer = await GetAsync(http, Forge(subject));
            Assert.Equal(
                (i, HttpStatusCode.Unauthorized, ErrorReasons.TokenInvalid),
                (i, answer.StatusCode, await ReasonAsync(answer)));
        }
    }

    private async Task<HttpStatusCode> StatusAsync(HttpClient http, string token)
    {
        using var answer = await GetAsync(http, token);
        return answer.StatusCode;
    }

    private static async Task<string?> ReasonAsync(HttpResponseMessage answer)
    {
        using var problem = JsonDocument.Parse(
            await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
        return problem.RootElement.GetProperty("reason").GetString();
    }

    private Task<HttpResponseMessage> GetAsync(HttpClient http, string? token)
    {
        var request = new HttpRequestMessage(HttpMethod.Get, new Uri(_proxy.Rest, "/v1/accounts/VISA/acct-2/balance"));
        request.Headers.Authorization = token is null ? null : new AuthenticationHeaderValue("Bearer", token);
        return http.SendAsync(request, TestContext.Current.CancellationToken);
    }
}
