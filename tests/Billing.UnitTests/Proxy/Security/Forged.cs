using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;
using Microsoft.IdentityModel.Tokens;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>Tokens that no issuer of this project issues: forged without the private key, or with it.</summary>
internal static class Forged
{
    /// <summary>The token with the algorithm "none" and no signature.</summary>
    public static string Unsigned(string token) => $"{Header("none")}.{token.Split('.')[1]}.";

    /// <summary>The token signed with HS256, for a verifier that would use its public key as the secret.</summary>
    public static string WithSecret(string token, byte[] secret)
    {
        var signed = $"{Header("HS256")}.{token.Split('.')[1]}";
        return $"{signed}.{Base64UrlEncoder.Encode(HMACSHA256.HashData(secret, Encoding.ASCII.GetBytes(signed)))}";
    }

    /// <summary>The token with a changed claim and the original signature.</summary>
    public static string Changed(string token, string claim, string value)
    {
        var parts = token.Split('.');
        var claims = JsonNode.Parse(Base64UrlEncoder.Decode(parts[1]))!.AsObject();
        claims[claim] = value;
        return $"{parts[0]}.{Base64UrlEncoder.Encode(claims.ToJsonString())}.{parts[2]}";
    }

    /// <summary>A token with any header and claims, whose signature is right.</summary>
    public static string Signed(string header, string claims, ECDsa key, HashAlgorithmName hash)
    {
        var signed = Base64UrlEncoder.Encode(Encoding.Latin1.GetBytes(header)) + "."
            + Base64UrlEncoder.Encode(Encoding.Latin1.GetBytes(claims));
        return $"{signed}.{Base64UrlEncoder.Encode(key.SignData(Encoding.ASCII.GetBytes(signed), hash))}";
    }

    private static string Header(string algorithm) =>
        Base64UrlEncoder.Encode(new JsonObject { ["alg"] = algorithm, ["typ"] = "JWT" }.ToJsonString());
}
