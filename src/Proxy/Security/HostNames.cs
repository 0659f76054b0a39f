using Billing.Contracts;
using Billing.Hosting;
using Billing.Proxy.Failures;
using Grpc.Core;

namespace Billing.Proxy.Security;

/// <summary>Refuses requests for a name to which the proxy does not answer (<c>AllowedHosts</c>). ASP.NET Core's own
/// filter, which the builder of the application adds, finds them and answers with an empty 400, which says nothing to
/// gRPC and to people. This has to be before all other middleware.</summary>
internal sealed class HostNames(SecurityLog log) : IStartupFilter
{
    private const int NameLengthMax = 100;

    public Action<IApplicationBuilder> Configure(Action<IApplicationBuilder> next) => app =>
    {
        app.Use(AnswerAsync);
        next(app);
    };

    private async Task AnswerAsync(HttpContext http, RequestDelegate next)
    {
        await next(http);
        // A request that the filter has refused was not routed.
        if (http.Response is { StatusCode: StatusCodes.Status400BadRequest, HasStarted: false, ContentType: null }
            && http.GetEndpoint() is null)
        {
            Refuse(http);
        }
    }

    private void Refuse(HttpContext http)
    {
        var failure = new Failure(
            StatusCode.InvalidArgument, ErrorReasons.HostNotAllowed,
            "The proxy does not answer to the name "
                + $"'{UntrustedText.Printable(http.Request.Host.Value ?? "", NameLengthMax)}'; "
            + "its setting AllowedHosts lists the names to which it does.");
        log.Refused(Caller.Of(http), failure, "a host that is not in AllowedHosts");
        // A gRPC status is within an HTTP status that succeeds.
        http.Response.StatusCode = StatusCodes.Status200OK;
        AccessRefusals.Answer(http, failure, GrpcEndpoints.LooksLikeGrpc(http.Request));
    }
}
