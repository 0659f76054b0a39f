using System.Security.Claims;
using System.Security.Cryptography.X509Certificates;
using System.Text.Encodings.Web;
using Billing.Messaging;
using Microsoft.AspNetCore.Authentication;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Security;

/// <summary>Authenticates a caller by its client certificate. The TLS handshake has already verified that it is signed
/// by an authority that the proxy trusts.</summary>
internal sealed class CertificateCallers(
    IOptions<AuthOptions> auth, IOptionsMonitor<AuthenticationSchemeOptions> options,
    ILoggerFactory loggers, UrlEncoder encoder)
    : AuthenticationHandler<AuthenticationSchemeOptions>(options, loggers, encoder)
{
    /// <summary>The scheme's name.</summary>
    public const string SchemeName = "Certificate";

    /// <summary>What the ids of these callers begin with, and those of no others.</summary>
    public const string Prefix = "certificate:";

    private static readonly CertificateRights AllAccounts = new() { Accounts = "*/*" };

    protected override Task<AuthenticateResult> HandleAuthenticateAsync()
    {
        if (Context.Connection.ClientCertificate is not { } certificate)
        {
            return Task.FromResult(AuthenticateResult.NoResult());
        }
        var name = certificate.GetNameInfo(X509NameType.SimpleName, forIssuer: false);
        if (!WireFormat.IsName(Prefix + name))
        {
            return Task.FromResult(
                AuthenticateResult.Fail("The certificate's common name is too long, or has control characters."));
        }
        var rights = auth.Value.Certificates.Count == 0 ? AllAccounts : auth.Value.Certificates.GetValueOrDefault(name);
        var caller = new Caller(
            SchemeName, Prefix + name, rights is null ? [] : ScopesOf(rights),
            new AccountGrants(AuthOptions.Words(rights?.Accounts ?? "")));
        return Task.FromResult(
            AuthenticateResult.Success(new AuthenticationTicket(new ClaimsPrincipal(caller), SchemeName)));
    }

    private string[] ScopesOf(CertificateRights rights) =>
        AuthOptions.Words(rights.Scopes.Length > 0 ? rights.Scopes : auth.Value.CertificateScopes);
}
