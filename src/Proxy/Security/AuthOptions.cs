using System.Net;
using Billing.Hosting;

namespace Billing.Proxy.Security;

/// <summary>How a proxy authenticates its callers; section <c>Billing:Auth</c>. Tokens are JSON Web Tokens (RFC 7519)
/// with asymmetric signatures, sent as <c>authorization: Bearer</c>.</summary>
internal sealed class AuthOptions
{
    public const string Section = "Billing:Auth";

    /// <summary>The file of a JSON Web Key Set (RFC 7517) with the token issuer's public keys. It may be replaced while
    /// the proxy runs. Empty if <see cref="Authority"/> provides the keys.</summary>
    public string JwksFile { get; set; } = "";

    /// <summary>The address of an OpenID provider that publishes its keys. Empty if <see cref="JwksFile"/>
    /// provides the keys.</summary>
    public string Authority { get; set; } = "";

    /// <summary>The required issuer of tokens. Empty with an <see cref="Authority"/>:
    /// the issuer that the authority publishes.</summary>
    public string Issuer { get; set; } = "";

    /// <summary>The required audience of tokens.</summary>
    public string Audience { get; set; } = "";

    /// <summary>The largest tolerated difference between the clocks of the issuer and the proxy,
    /// zero to ten minutes.</summary>
    [TimeRange("00:00:00", "00:10:00")]
    public TimeSpan ClockSkew { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>The claim that lists the accounts a caller may access: a string or an array of strings, entries of
    /// <see cref="AccountGrants"/>. A token without the claim gives access to none.</summary>
    public string AccountClaim { get; set; } = "billing_accounts";

    /// <summary>What callers may do that authenticate with a client certificate only, by the common name of its
    /// subject. Those that are not named here may do nothing.</summary>
    public Dictionary<string, CertificateRights> Certificates { get; set; } = new(StringComparer.Ordinal);

    /// <summary>Whether callers may authenticate with tokens.</summary>
    public bool TakesTokens => JwksFile.Length > 0 || Authority.Length > 0;

    public IEnumerable<string> ValidationErrors() => ((string?[])
    [
        JwksFile.Length > 0 && Authority.Length > 0 ? $"{Section}: set JwksFile or Authority, not both." : null,
        JwksFile.Length > 0 && !File.Exists(JwksFile) ? $"{Section}:JwksFile: there is no file '{JwksFile}'." : null,
        Authority.Length > 0 && !IsAuthority(Authority)
            ? $"{Section}:Authority: '{Authority}' is not an address that begins with https; "
                + "http is allowed only for a loopback address." : null,
        JwksFile.Length > 0 && Issuer.Length == 0
            ? $"{Section}:Issuer is missing: set it to the issuer of the tokens."
            : null,
        TakesTokens && Audience.Length == 0
            ? $"{Section}:Audience is missing: set it to the audience that tokens must have."
            : null,
        !TakesTokens && (Issuer.Length > 0 || Audience.Length > 0)
            ? $"{Section}: Issuer and Audience need JwksFile or Authority."
            : null,
        AccountClaim.Length == 0 ? $"{Section}:AccountClaim must not be empty." : null,
        .. Certificates.SelectMany(one => one.Value.Problems($"{Section}:Certificates:{one.Key}")),
    ]).OfType<string>();

    /// <summary>The words of a setting that are separated by spaces.</summary>
    public static string[] Words(string setting) => setting.Split(' ', StringSplitOptions.RemoveEmptyEntries);

    /// <summary>Whether keys may be read from an address: over TLS, or on this machine.</summary>
    public static bool IsAuthority(string address) =>
        Uri.TryCreate(address, UriKind.Absolute, out var uri)
        && (uri.Scheme == "https" || (uri.Scheme == "http"
            && (uri.Host == "localhost" || (IPAddress.TryParse(uri.Host, out var ip) && IPAddress.IsLoopback(ip)))));
}
