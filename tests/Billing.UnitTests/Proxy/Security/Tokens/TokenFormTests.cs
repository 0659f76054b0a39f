using System.Net;
using System.Security.Cryptography;
using System.Text.Json;
using System.Text.Json.Nodes;
using Billing.Operator.Credentials;
using Billing.UnitTests.Testing;
using Microsoft.IdentityModel.Tokens;

namespace Billing.UnitTests.Proxy.Security.Tokens;

/// <summary>Tokens whose signature is right.</summary>
public sealed class TokenFormTests : IAsyncLifetime
{
    private SecureProxy _proxy = null!;

    public async ValueTask InitializeAsync() => _proxy = await SecureProxy.StartAsync();

    public ValueTask DisposeAsync() => _proxy.DisposeAsync();

    [Theory]
    [InlineData("""{}""", true)]
    [InlineData("""{"typ":"JWT"}""", true)]
    [InlineData("""{"typ":"at+jwt"}""", true)]
    [InlineData("""{"typ":"application/at+JWT"}""", true)]
    [InlineData("""{"typ":"logout+jwt"}""", false)]
    [InlineData("""{"typ":"secevent+jwt"}""", false)]
    [InlineData("""{"typ":"JWT","crit":["b64"],"b64":true}""", false)]
    public async Task A_token_is_one_for_access_and_says_nothing_that_must_be_understood(string header, bool isAccepted)
    {
        using var key = ECDsa.Create();
        key.ImportFromPem(_proxy.Tokens.Pem);

        Assert.Equal(Status(isAccepted), await GetAsync("Bearer " + Token(header, key, HashAlgorithmName.SHA256)));
    }

    [Theory]
    [InlineData("nistP256", "SHA256", "ES256", true)]
    [InlineData("nistP384", "SHA384", "ES384", true)]
    [InlineData("nistP521", "SHA512", "ES512", true)]
    [InlineData("nistP384", "SHA256", "ES256", false)]
    [InlineData("nistP256", "SHA384", "ES384", false)]
    [InlineData("nistP521", "SHA256", "ES256", false)]
    public async Task Each_curve_has_one_algorithm(string curve, string hash, string algorithm, bool isAccepted)
    {
        using var key = ECDsa.Create(ECCurve.CreateFromFriendlyName(curve));
        var jwk = JsonWebKeyConverter.ConvertFromECDsaSecurityKey(new ECDsaSecurityKey(key));
        var jwks = new { keys = new[] { new { kty = jwk.Kty, crv = jwk.Crv, x = jwk.X, y = jwk.Y } } };
        await using var proxy = await SecureProxy.StartAsync(jwks: JsonSerializer.Serialize(jwks));

        Assert.Equal(
            Status(isAccepted),
            await GetAsync("Bearer " + Token("{}", key, new HashAlgorithmName(hash), algorithm), proxy));
    }

    [Theory]
    [InlineData("bearer {0}", true)]
    [InlineData("Bearer   {0} ", true)]
    [InlineData("Basic {0}", false)]
    [InlineData("{0}", false)]
    [InlineData("Token Bearer {0}", false)]
    public async Task A_token_that_was_valid_before_is_one_only_as_that_of_a_bearer(string form, bool isAccepted)
    {
        var token = _proxy.Token("accounts:read", "*/*");
        Assert.Equal(HttpStatusCode.OK, await GetAsync("Bearer " + token));

        Assert.Equal(Status(isAccepted), await GetAsync(string.Format(null, form, token)));
    }

    private static HttpStatusCode Status(bool isAccepted) =>
        isAccepted ? HttpStatusCode.OK : HttpStatusCode.Unauthorized;

    private async Task<HttpStatusCode> GetAsync(string authorization, SecureProxy? other = null)
    {
        var proxy = other ?? _proxy;
        proxy.Backend.Answer = command => Task.FromResult(CompleteReplies.To(command));
        using var http = proxy.Http();
        http.DefaultRequestHeaders.TryAddWithoutValidation("authorization", authorization);
        using var answer = await http.GetAsync(
            new Uri(proxy.Rest, "/v1/accounts/VISA/acct-1/balance"), TestContext.Current.CancellationToken);
        return answer.StatusCode;
    }

    private static string Token(string header, ECDsa key, HashAlgorithmName hash, string algorithm = "ES256")
    {
        var full = JsonNode.Parse(header)!.AsObject();
        full["alg"] = algorithm;
        var claims = new JsonObject
        {
            ["iss"] = TokenIssuer.Issuer,
            ["aud"] = TokenIssuer.Audience,
            ["sub"] = "somebody",
            ["scope"] = "accounts:read",
            ["billing_accounts"] = "*/*",
            ["exp"] = TimeProvider.System.GetUtcNow().AddMinutes(5).ToUnixTimeSeconds(),
        };
        return Forged.Signed(full.ToJsonString(), claims.ToJsonString(), key, hash);
    }
}
