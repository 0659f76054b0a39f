using System.Security.Claims;
using System.Text.Encodings.Web;
using Billing.Proxy.Failures;
using Microsoft.AspNetCore.Authentication;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Security.Certificates;

/// <summary>Authenticates a caller by its client certificate, which the TLS handshake has verified and
/// <see cref="CertificateNames"/> has read.</summary>
internal sealed class CertificateCallers(
    IOptionsMonitor<AuthenticationSchemeOptions> options, ILoggerFactory loggers, UrlEncoder encoder)
    : AuthenticationHandler<AuthenticationSchemeOptions>(options, loggers, encoder)
{
    /// <summary>The scheme's name.</summary>
    public const string SchemeName = "Certificate";

    protected override Task<AuthenticateResult> HandleAuthenticateAsync() => Task.FromResult(
        Context.Features.Get<CertificateCaller>() is not { Who: var who } ? AuthenticateResult.NoResult()
            : who.Failure is { } failure ? AuthenticateResult.Fail(new FailureException(failure))
            : AuthenticateResult.Success(new AuthenticationTicket(new ClaimsPrincipal(who.Value), SchemeName)));
}

/// <summary>The caller of a connection by its client certificate, or why the certificate names none.</summary>
internal sealed record CertificateCaller(Outcome<Caller> Who);
