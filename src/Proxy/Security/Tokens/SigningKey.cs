using Billing.Hosting;
using Microsoft.IdentityModel.Tokens;

namespace Billing.Proxy.Security.Tokens;

/// <summary>A public key of the issuer of tokens, for as long as the issuer publishes it.</summary>
internal sealed class SigningKey : IDisposable
{
    private const int NameLengthMax = 100;

    private static readonly string[] OfRsa =
    [
        SecurityAlgorithms.RsaSha256, SecurityAlgorithms.RsaSha384, SecurityAlgorithms.RsaSha512,
        SecurityAlgorithms.RsaSsaPssSha256, SecurityAlgorithms.RsaSsaPssSha384, SecurityAlgorithms.RsaSsaPssSha512,
    ];

    // RFC 7518, section 3.4: each curve has one.
    private static readonly Dictionary<string, string> OfCurves = new(StringComparer.Ordinal)
    {
        [JsonWebKeyECTypes.P256] = SecurityAlgorithms.EcdsaSha256,
        [JsonWebKeyECTypes.P384] = SecurityAlgorithms.EcdsaSha384,
        [JsonWebKeyECTypes.P521] = SecurityAlgorithms.EcdsaSha512,
    };

    private readonly CancellationTokenSource _removed = new();
    private readonly string[] _algorithms;

    private SigningKey(JsonWebKey published, SecurityKey key, string[] algorithms)
    {
        (Key, _algorithms) = (key, algorithms);
        Id = published.KeyId is { Length: > 0 } id ? id : null;
        Identity = (Id, Convert.ToBase64String(published.ComputeJwkThumbprint()), string.Join(' ', algorithms));
    }

    /// <summary>The algorithms of signatures that keys may have: all with a private key, so that who verifies cannot
    /// sign.</summary>
    public static IReadOnlyCollection<string> Algorithms { get; } = [.. OfRsa, .. OfCurves.Values];

    /// <summary>The key itself.</summary>
    public SecurityKey Key { get; }

    /// <summary>Its id (<c>kid</c>); null if it has none.</summary>
    public string? Id { get; }

    /// <summary>What it is told by from other keys: the same id with another key is another one, and so is a key that
    /// is now for other algorithms.</summary>
    public (string? Id, string Thumbprint, string Algorithms) Identity { get; }

    /// <summary>What logs call it.</summary>
    public string Name => UntrustedText.Printable(Id ?? Identity.Thumbprint, NameLengthMax);

    /// <summary>Cancelled when the issuer does not publish it any more.</summary>
    public CancellationToken Removed => _removed.Token;

    /// <summary>Makes a key of a published one.</summary>
    /// <returns>Null if it is not for verifying signatures, or of a kind that is not supported.</returns>
    public static SigningKey? Of(JsonWebKey published)
    {
        try
        {
            return published.Use is null or "" or JsonWebKeyUseNames.Sig
                && (published.KeyOps.Count == 0 || published.KeyOps.Contains("verify"))
                && AlgorithmsOf(published) is { Length: > 0 } algorithms
                && JsonWebKeyConverter.TryConvertToSecurityKey(published, out var key)
                // RFC 7518, section 3.3.
                && (published.Kty != JsonWebAlgorithmsKeyTypes.RSA || key.KeySize >= 2048)
                    ? new SigningKey(published, key, algorithms)
                    : null;
        }
        catch (Exception e) when (e is ArgumentException or FormatException or NotSupportedException
            or InvalidOperationException or System.Security.Cryptography.CryptographicException)
        {
            return null;
        }
    }

    /// <summary>Whether a token with this header may be signed with it. A token that names no key may be signed with
    /// any, and a key that has no id may have signed any token.</summary>
    public bool Suits(string? keyId, string algorithm) =>
        _algorithms.Contains(algorithm) && (string.IsNullOrEmpty(keyId) || Id is null || Id == keyId);

    /// <summary>Ends the trust in it: tokens that it has signed are refused, and their streams end. The source of
    /// <see cref="Removed"/> is not disposed, which would fail who still looks at it.</summary>
    public void Dispose() => _removed.Cancel();

    // RFC 7517, section 4.4: a key may be for one algorithm only.
    private static string[] AlgorithmsOf(JsonWebKey key)
    {
        string[] all = key.Kty switch
        {
            JsonWebAlgorithmsKeyTypes.RSA => OfRsa,
            JsonWebAlgorithmsKeyTypes.EllipticCurve => OfCurves.TryGetValue(key.Crv, out var one) ? [one] : [],
            _ => [],
        };
        return string.IsNullOrEmpty(key.Alg) ? all : [.. all.Where(algorithm => algorithm == key.Alg)];
    }
}
