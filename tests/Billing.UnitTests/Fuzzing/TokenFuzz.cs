using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Billing.Contracts;
using Billing.Operator.Credentials;
using Billing.UnitTests.Proxy.Security;
using Billing.UnitTests.Testing;
using Microsoft.IdentityModel.Tokens;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Hostile tokens at a proxy that authenticates its callers.</summary>
public sealed class TokenFuzz
{
    private static readonly string[] Words =
    [
        ".", "..", "Bearer ", "=", "{", "}", "[", "]", "\"", ",", ":", "null", "true", "-1", "1e400",
        "9999999999999", "\"alg\":\"none\"", "\"alg\":\"HS256\"", "\"alg\":\"ES256\"", "\"kid\":",
        "\"jwk\":{}", "\"jku\":\"http://127.0.0.1:1/\"",
        "\"x5u\":\"http://127.0.0.1:1/\"", "\"x5c\":[\"AA==\"]", "\"crit\":[\"exp\"]", "\"zip\":\"DEF\"",
        "\"enc\":\"A128GCM\"", "\"exp\":", "\"nbf\":", "\"aud\":", "\"iss\":", "\"sub\":", "\"scope\":",
        "\"scp\":[\"accounts:manage\"]", "\"billing_accounts\":", "\"*\"", "accounts:manage", "accounts:read",
        "\\u0000", "\\ud800",
    ];

    /// <summary>Half of the inputs are changed after they were signed, and half of them before:
    /// then the signature is right, and the claims are hostile.</summary>
    [Fact]
    public async Task A_token_is_accepted_only_as_it_was_signed_and_with_the_claims_that_the_call_needs()
    {
        var log = new FaultLog();
        var time = new ManualTime();
        await using var proxy = await SecureProxy.StartAsync(
            new() { ["Billing:Limits:InvalidTokensPerMinute"] = "1000000" }, time, logs: log);
        // The same in every run, so that a finding stays one.
        using var key = ECDsa.Create(
            new ECParameters { Curve = ECCurve.NamedCurves.nistP256, D = SHA256.HashData("fuzz"u8) });
        using var issuer = TokenIssuer.Of(key.ExportPkcs8PrivateKeyPem(), time);
        await File.WriteAllTextAsync(proxy.JwksFile, issuer.Jwks);
        time.Advance(TimeSpan.FromSeconds(2));
        using var http = new HttpClient(proxy.Handler());
        var balance = new Uri(proxy.Rest, "/v1/accounts/VISA/acct-1/balance");
        proxy.Backend.Answer = command => Task.FromResult(CompleteReplies.To(command));

        await new Fuzz("tokens", [.. Tokens(issuer)], Words, tries: 1_500).RunAsync(async input =>
        {
            var signs = input.ElementAtOrDefault(0) % 2 == 1;
            var text = Encoding.Latin1.GetString(input.AsSpan(Math.Min(1, input.Length)));
            var token = signs ? Signed(text, key) : text;
            using var request = new HttpRequestMessage(HttpMethod.Get, balance) { Version = HttpVersion.Version11 };
            if (!request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + Visible(token)))
            {
                return "no header";
            }
            using var answer = await http.SendAsync(request);
            var body = await answer.Content.ReadAsStringAsync();
            log.AssertNone();
            if (answer.StatusCode == HttpStatusCode.RequestHeaderFieldsTooLarge)
            {
                return "too large";
            }
            var reason = answer.IsSuccessStatusCode
                ? ""
                : JsonDocument.Parse(body).RootElement.GetProperty("reason").GetString();
            Assert.Contains((answer.StatusCode, reason), ((HttpStatusCode, string?)[])[
                (HttpStatusCode.OK, ""), (HttpStatusCode.Unauthorized, ErrorReasons.TokenMissing),
                (HttpStatusCode.Unauthorized, ErrorReasons.TokenExpired),
                (HttpStatusCode.Unauthorized, ErrorReasons.TokenInvalid),
                (HttpStatusCode.Forbidden, ErrorReasons.ScopeMissing),
                (HttpStatusCode.Forbidden, ErrorReasons.AccountNotAllowed)]);
            if (answer.IsSuccessStatusCode)
            {
                AssertAcceptable(Visible(token).Trim(), key, time);
            }
            return $"{signs} {reason} {answer.Headers.WwwAuthenticate.ToString()}";
        });

        using var good = proxy.Http(
            issuer.Issue("somebody", ["accounts:read"], ["visa/acct-1"], TimeSpan.FromMinutes(5)));
        Assert.Equal(HttpStatusCode.OK, (await good.GetAsync(balance)).StatusCode);
    }

    // What a client can send in a header.
    private static string Visible(string token) => new([.. token.Where(c => c is >= ' ' and < (char)0x7f)]);

    // Header and claims, a line each.
    private static string Signed(string text, ECDsa key)
    {
        var at = text.IndexOf('\n', StringComparison.Ordinal);
        var (header, claims) = at < 0 ? (text, "") : (text[..at], text[(at + 1)..]);
        return Forged.Signed(header, claims, key, HashAlgorithmName.SHA256);
    }

    /// <summary>A reading of its own of what the proxy accepted.</summary>
    private static void AssertAcceptable(string token, ECDsa key, TimeProvider time)
    {
        var parts = token.Split('.');
        Assert.Equal(3, parts.Length);
        Assert.True(key.VerifyData(
            Encoding.ASCII.GetBytes($"{parts[0]}.{parts[1]}"), Base64UrlEncoder.DecodeBytes(parts[2]),
            HashAlgorithmName.SHA256), token);
        // What follows the first object is ignored by the library; the issuer has signed it all the same.
        var reader = new Utf8JsonReader(Base64UrlEncoder.DecodeBytes(parts[1]));
        var claims = JsonDocument.ParseValue(ref reader).RootElement;
        Assert.Contains(TokenIssuer.Issuer, claims.GetProperty("iss").GetRawText(), StringComparison.Ordinal);
        Assert.Contains(TokenIssuer.Audience, claims.GetProperty("aud").GetRawText(), StringComparison.Ordinal);
        Assert.True(Names(claims, "scope", "accounts:read") || Names(claims, "scp", "accounts:read"), token);
        Assert.True(
            Names(claims, "billing_accounts", "*/*") || Names(claims, "billing_accounts", "visa/acct-1"), token);
        Assert.True(claims.GetProperty("exp").GetDouble() + 300 >= time.GetUtcNow().ToUnixTimeSeconds(), token);
    }

    private static bool Names(JsonElement claims, string claim, string text) =>
        claims.TryGetProperty(claim, out var value) && value.GetRawText().Contains(text, StringComparison.Ordinal);

    private static IEnumerable<byte[]> Tokens(TokenIssuer issuer)
    {
        string[] whole =
        [
            issuer.Issue("somebody", ["accounts:read"], ["visa/acct-1"], TimeSpan.FromMinutes(5)),
            issuer.Issue("somebody", ["accounts:read"], ["*/*"], TimeSpan.FromMinutes(5)),
            issuer.Issue("somebody", ["payments:write"], ["*/*"], TimeSpan.FromMinutes(5)),
            issuer.Issue("somebody", ["accounts:read"], ["*/*"], TimeSpan.FromHours(-1)),
        ];
        foreach (var token in whole)
        {
            yield return [0, .. Encoding.Latin1.GetBytes(token)];
            var parts = token.Split('.');
            yield return
            [
                1, .. Base64UrlEncoder.DecodeBytes(parts[0]), (byte)'\n', .. Base64UrlEncoder.DecodeBytes(parts[1]),
            ];
        }
    }
}
