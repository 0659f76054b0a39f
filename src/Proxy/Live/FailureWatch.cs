using System.Net;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Security;
using Grpc.Core;
using Microsoft.AspNetCore.Http.Features;

namespace Billing.Proxy.Live;

/// <summary>Adds refused and failed calls, over gRPC and REST, to the <see cref="FailureLog"/> while somebody watches the live
/// page.</summary>
internal static class FailureWatch
{
    private const string GrpcStatus = "grpc-status";
    private const string GrpcMessage = "grpc-message";

    /// <summary>The middleware.</summary>
    public static Task InvokeAsync(LiveWatch watch, HttpContext http, RequestDelegate next) =>
        watch.Record is not { } record ? next(http)
        : Refusals.IsGrpc(http.Request)
            ? GrpcAsync(record.Failures, http, next)
            : WatchRestAsync(record.Failures, http, next);

    private static async Task GrpcAsync(FailureLog failures, HttpContext http, RequestDelegate next)
    {
        await next(http);
        var trailers = http.Features.Get<IHttpResponseTrailersFeature>()?.Trailers;
        var status = Find(GrpcStatus);
        if (status is not (null or "0"))
        {
            failures.Add(
                RouteOf(http).TrimStart('/'), Enum.TryParse<StatusCode>(status, out var code) ? code.ToString() : status,
                Find(Trailers.Reason), WebUtility.UrlDecode(Find(GrpcMessage)));
        }

        // A call that fails before it has answered anything has its trailers in the headers.
        string? Find(string name) =>
            trailers?.TryGetValue(name, out var trailer) == true ? trailer.ToString()
            : http.Response.Headers.TryGetValue(name, out var header) ? header.ToString()
            : null;
    }

    private static async Task WatchRestAsync(FailureLog failures, HttpContext http, RequestDelegate next)
    {
        try
        {
            await next(http);
        }
        catch (FailureException e) when (Enter(failures, http, e.Failure))
        {
            throw;
        }
    }

    // Called from an exception filter and never true: nothing is caught, so nothing has to be rethrown.
    private static bool Enter(FailureLog failures, HttpContext http, Failure failure)
    {
        failures.Add($"{http.Request.Method} {RouteOf(http)}", $"{RestFailure.StatusOf(failure)} {failure.Status}", failure.Reason, failure.Message);
        return false;
    }

    // Not the path: callers could displace all other failures with paths that they make up.
    private static string RouteOf(HttpContext http) => (http.GetEndpoint() as RouteEndpoint)?.RoutePattern.RawText ?? "";
}
