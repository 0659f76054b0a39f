using Billing.Contracts;
using Billing.Hosting;
using Billing.Proxy.Failures;
using Billing.Proxy.Security;
using Grpc.Core;
using Microsoft.AspNetCore.Http.Features;

namespace Billing.Proxy.Limits;

/// <summary>Refuses calls on a connection whose client certificate has expired since it was opened, as a new connection
/// with it is refused, and ends the connection. It costs a call of a caller without a certificate nothing, and others
/// one look at the clock.</summary>
internal sealed class CertificateExpiry(RequestDelegate next, TimeProvider time, SecurityLog log)
{
    /// <summary>What the caller is told.</summary>
    public static Failure Expired { get; } = new(
        StatusCode.Unauthenticated, ErrorReasons.CertificateExpired,
        "The client certificate of the connection has expired; open another connection with a new one.");

    /// <summary>Until when the client certificate of a request's connection is valid; null if there is none.</summary>
    public static DateTimeOffset? Of(HttpContext http) =>
        http.Features.Get<ITlsConnectionFeature>()?.ClientCertificate is { } certificate ? certificate.NotAfter : null;

    /// <summary>Lets a request pass, or refuses it.</summary>
    public Task InvokeAsync(HttpContext http)
    {
        if (Of(http) is not { } until || time.AgreedClock().GetUtcNow() <= until)
        {
            return next(http);
        }
        http.Features.Get<ConnectionAge>()?.End(http);
        log.Refused(Caller.Of(http), Expired, http.GetEndpoint()?.DisplayName ?? "");
        AccessRefusals.Answer(http, Expired);
        return Task.CompletedTask;
    }
}
