using Billing.Contracts;
using Billing.Proxy.Failures;
using Grpc.Core;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Authorization.Policy;
using Microsoft.Net.Http.Headers;

namespace Billing.Proxy.Security;

/// <summary>Answers unauthenticated and unauthorized requests with an error, in the format of gRPC or REST.</summary>
internal sealed class AccessRefusals(SecurityLog log) : IAuthorizationMiddlewareResultHandler
{
    public async Task HandleAsync(
        RequestDelegate next, HttpContext context, AuthorizationPolicy policy,
        PolicyAuthorizationResult authorizeResult)
    {
        if (authorizeResult.Succeeded)
        {
            await next(context);
            return;
        }
        var failure = authorizeResult.Challenged ? Unknown(await context.AuthenticateAsync()) : Forbidden(context);
        // Not the path, which is whatever the caller wrote.
        log.Refused(Caller.Of(context), failure, context.GetEndpoint()?.DisplayName ?? "");
        Answer(context, failure);
    }

    /// <summary>Answers a request with an error.</summary>
    public static void Answer(HttpContext http, Failure failure) =>
        Answer(http, failure, GrpcEndpoints.IsGrpc(http));

    /// <summary>Answers a call of gRPC, or a request of REST, with an error.</summary>
    public static void Answer(HttpContext http, Failure failure, bool isGrpc)
    {
        if (isGrpc)
        {
            http.Response.ContentType = "application/grpc";
            GrpcFailure.WriteTrailers(http.Response.Headers, failure);
            return;
        }
        if (failure.Status == StatusCode.Unauthenticated)
        {
            http.Response.Headers.Append(HeaderNames.WWWAuthenticate, "Bearer");
        }
        RestFailure.Write(http.Response, failure);
    }

    private static Failure Unknown(AuthenticateResult result) => (result.Failure as FailureException)?.Failure ?? new(
        StatusCode.Unauthenticated, ErrorReasons.TokenMissing,
        "The call has no token; send one as authorization: Bearer.");

    // The policies of the endpoints are named after the scopes that they require.
    private static Failure Forbidden(HttpContext http)
    {
        var scopes = http.GetEndpoint()!.Metadata.GetOrderedMetadata<IAuthorizeData>()
            .Select(required => required.Policy);
        return new(
            StatusCode.PermissionDenied, ErrorReasons.ScopeMissing,
            $"The caller lacks the scope {string.Join(" and ", scopes)}.");
    }
}
