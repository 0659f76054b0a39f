using System.Net;

namespace Billing.Proxy.Security;

/// <summary>Whose word a proxy takes for who its callers are; section <c>Billing:Auth</c>. Tokens are JSON Web Tokens (RFC 7519)
/// with asymmetric signatures, sent as <c>authorization: Bearer</c>.</summary>
public sealed class AuthOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Auth";

    private static readonly TimeSpan ClockSkewBound = TimeSpan.FromMinutes(10);

    /// <summary>A JSON Web Key Set (RFC 7517) with the public keys of whoever issues tokens. It may be replaced while the proxy
    /// runs. Empty: <see cref="Authority"/> has them.</summary>
    public string JwksFile { get; set; } = "";

    /// <summary>The address of an OpenID provider that publishes its keys; empty: <see cref="JwksFile"/> has them.</summary>
    public string Authority { get; set; } = "";

    /// <summary>Who must have issued a token; empty, with an authority: what the authority says of itself.</summary>
    public string Issuer { get; set; } = "";

    /// <summary>Whom a token must be for.</summary>
    public string Audience { get; set; } = "";

    /// <summary>How far the clocks of the issuer and the proxy may be apart, zero to ten minutes.</summary>
    public TimeSpan ClockSkew { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>The claim that lists the accounts that a caller may reach: a string or an array of strings, each an account id,
    /// <c>*</c> for all, or the beginning of ids with <c>*</c> after it. A token without it reaches none.</summary>
    public string AccountClaim { get; set; } = "billing_accounts";

    /// <summary>The scopes, with spaces between, of callers that prove themselves by a certificate alone; they reach all
    /// accounts.</summary>
    public string CertificateScopes { get; set; } = $"{Scopes.PaymentsWrite} {Scopes.BalancesRead}";

    /// <summary>Whether callers may come with tokens.</summary>
    public bool TakesTokens => JwksFile.Length > 0 || Authority.Length > 0;

    /// <summary>What is wrong with the settings, naming each.</summary>
    public IEnumerable<string> Problems()
    {
        if (JwksFile.Length > 0 && Authority.Length > 0)
        {
            yield return $"{Section}: give JwksFile or Authority, not both.";
        }
        if (JwksFile.Length > 0 && !File.Exists(JwksFile))
        {
            yield return $"{Section}:JwksFile: there is no file '{JwksFile}'.";
        }
        if (Authority.Length > 0 && !IsAuthority(Authority))
        {
            yield return $"{Section}:Authority: '{Authority}' is not an address that begins with https; http will do on a loopback address alone.";
        }
        if (JwksFile.Length > 0 && Issuer.Length == 0)
        {
            yield return $"{Section}:Issuer is missing: say who issues the tokens.";
        }
        if (TakesTokens && Audience.Length == 0)
        {
            yield return $"{Section}:Audience is missing: say whom tokens must be for.";
        }
        if (!TakesTokens && (Issuer.Length > 0 || Audience.Length > 0))
        {
            yield return $"{Section}: Issuer and Audience need JwksFile or Authority.";
        }
        if (ClockSkew < TimeSpan.Zero || ClockSkew > ClockSkewBound)
        {
            yield return $"{Section}:ClockSkew ({ClockSkew}) must be within zero and {ClockSkewBound}.";
        }
        if (AccountClaim.Length == 0)
        {
            yield return $"{Section}:AccountClaim must not be empty.";
        }
        foreach (var scope in CertificateScopes.Split(' ', StringSplitOptions.RemoveEmptyEntries).Where(scope => !Scopes.All.Contains(scope)))
        {
            yield return $"{Section}:CertificateScopes: there is no scope '{scope}'; there are {string.Join(", ", Scopes.All)}.";
        }
    }

    private static bool IsAuthority(string address) =>
        Uri.TryCreate(address, UriKind.Absolute, out var uri)
        && (uri.Scheme == "https" || (uri.Scheme == "http" && (uri.Host == "localhost" || (IPAddress.TryParse(uri.Host, out var ip) && IPAddress.IsLoopback(ip)))));
}

/// <summary>What a caller may be allowed, as tokens name it.</summary>
public static class Scopes
{
    /// <summary>To pay.</summary>
    public const string PaymentsWrite = "payments:write";

    /// <summary>To read balances and statements.</summary>
    public const string BalancesRead = "balances:read";

    /// <summary>To set credit limits, and to see what operators see.</summary>
    public const string Admin = "admin";

    /// <summary>All of them.</summary>
    public static IReadOnlyList<string> All { get; } = [PaymentsWrite, BalancesRead, Admin];
}
