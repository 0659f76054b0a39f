using System.Security.Cryptography;

namespace Billing.Proxy.Security;

/// <summary>What a caller with a certain client certificate may do; section
/// <c>Billing:Auth:Certificates:NAME</c>.</summary>
internal sealed class CertificateRights
{
    private const int FingerprintLength = 2 * SHA256.HashSizeInBytes;

    /// <summary>The accounts that it may access, separated by spaces: entries of <see cref="AccountGrants"/>.</summary>
    public string Accounts { get; set; } = "";

    /// <summary>Its scopes, separated by spaces.</summary>
    public string Scopes { get; set; } = "";

    /// <summary>The authorities that may sign a certificate of this name, separated by spaces: the SHA-256 fingerprint
    /// of the certificate of each, with or without colons. It is enough that one of them is above the caller's
    /// certificate. Empty if there is only one authority.</summary>
    public string Authority { get; set; } = "";

    /// <summary>The fingerprints of <see cref="Authority"/>, as capital digits without colons.</summary>
    public IEnumerable<string> Authorities => AuthOptions.Words(Authority)
        .Select(word => word.Replace(":", "", StringComparison.Ordinal).ToUpperInvariant());

    /// <summary>What is wrong, each as a sentence that names the setting.</summary>
    /// <param name="setting">The name of the section.</param>
    public IEnumerable<string> Problems(string setting)
    {
        var (accounts, scopes) = (AuthOptions.Words(Accounts), AuthOptions.Words(Scopes));
        return
        [
            .. accounts.Length > 0 ? [] : (string[])
                [$"{setting}:Accounts is missing: set it to entries {AccountGrants.Form}, separated by spaces."],
            .. accounts.Where(word => !AccountGrants.IsValid(word))
                .Select(word => $"{setting}:Accounts: '{word}' is not {AccountGrants.Form}."),
            .. scopes.Length > 0 ? [] : (string[])
                [$"{setting}:Scopes is missing: set it to scopes, separated by spaces; they are {AllScopes}."],
            .. scopes.Where(scope => !Messaging.Requests.Scopes.All.Contains(scope))
                .Select(scope => $"{setting}:Scopes: there is no scope '{scope}'; the scopes are {AllScopes}."),
            .. Authorities.Where(one => one.Length != FingerprintLength || !one.All(char.IsAsciiHexDigit))
                .Select(one => $"{setting}:Authority: '{one}' is not the SHA-256 fingerprint of a certificate."),
        ];
    }

    private static string AllScopes => string.Join(", ", Messaging.Requests.Scopes.All);
}
