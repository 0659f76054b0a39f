using System.Security.Cryptography;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;

namespace Billing.Operator.Credentials;

/// <summary>Issues tokens for a deployment, in place of an identity provider.</summary>
public sealed class TokenIssuer : IDisposable
{
    /// <summary>The <c>iss</c> claim of the tokens.</summary>
    public const string Issuer = "billing";

    /// <summary>The <c>aud</c> claim of the tokens.</summary>
    public const string Audience = "billing";

    private readonly ECDsa _key;
    private readonly TimeProvider _time;

    private TokenIssuer(ECDsa key, TimeProvider time)
    {
        _key = key;
        _time = time;
    }

    /// <summary>The key set (RFC 7517) with which its tokens are verified.</summary>
    public string Jwks
    {
        get
        {
            var key = JsonWebKeyConverter.ConvertFromECDsaSecurityKey(
                new ECDsaSecurityKey(ECDsa.Create(_key.ExportParameters(false))));
            return $$"""
                { "keys": [
                  { "kty": "{{key.Kty}}", "crv": "{{key.Crv}}", "x": "{{key.X}}", "y": "{{key.Y}}",
                    "use": "sig", "alg": "ES256", "kid": "{{KeyId}}" }
                ] }
                """;
        }
    }

    /// <summary>The private key in PEM (PKCS #8), with which tokens can be issued.</summary>
    public string Pem => _key.ExportPkcs8PrivateKeyPem();
    private string KeyId => Convert.ToHexStringLower(SHA256.HashData(_key.ExportSubjectPublicKeyInfo()))[..16];

    /// <summary>Creates an issuer with a new key.</summary>
    public static TokenIssuer New(TimeProvider time) => new(ECDsa.Create(ECCurve.NamedCurves.nistP256), time);

    /// <summary>Creates an issuer from the <see cref="Pem"/> of an earlier one.</summary>
    /// <exception cref="ArgumentException">The text is not a key in PEM, or not one of the curve P-256.</exception>
    public static TokenIssuer Of(string pem, TimeProvider time)
    {
        var key = ECDsa.Create();
        try
        {
            key.ImportFromPem(pem);
            return key.KeySize == 256
                ? new TokenIssuer(key, time)
                : throw new ArgumentException("The key is not one of the curve P-256.", nameof(pem));
        }
        catch
        {
            key.Dispose();
            throw;
        }
    }

    /// <summary>Issues a token.</summary>
    /// <param name="subject">The caller that it names.</param>
    /// <param name="scopes">What its bearer may do.</param>
    /// <param name="accounts">The accounts that its bearer may access, in the format of the proxies'
    /// <c>Billing:Auth:AccountClaim</c>.</param>
    /// <param name="lifetime">Its lifetime from now; negative for an expired token.</param>
    /// <param name="clientId">The program that its subject uses; null to leave the claim out.</param>
    public string Issue(
        string subject, IEnumerable<string> scopes, IEnumerable<string> accounts,
        TimeSpan lifetime, string? clientId = null)
    {
        var now = _time.GetUtcNow().UtcDateTime;
        var claims = new Dictionary<string, object>
        {
            ["sub"] = subject,
            ["scope"] = string.Join(' ', scopes),
            ["billing_accounts"] = accounts.ToArray(),
        };
        if (clientId is not null)
        {
            claims["client_id"] = clientId;
        }
        return new JsonWebTokenHandler { SetDefaultTimesOnTokenCreation = false }.CreateToken(
            new SecurityTokenDescriptor
            {
                Issuer = Issuer,
                Audience = Audience,
                IssuedAt = lifetime > TimeSpan.Zero ? now : now + lifetime,
                Expires = now + lifetime,
                Claims = claims,
                SigningCredentials = new SigningCredentials(
                    new ECDsaSecurityKey(_key) { KeyId = KeyId }, SecurityAlgorithms.EcdsaSha256)
                {
                    // The shared cache would outlive the key.
                    CryptoProviderFactory = new CryptoProviderFactory { CacheSignatureProviders = false },
                },
            });
    }

    /// <inheritdoc/>
    public void Dispose() => _key.Dispose();
}
