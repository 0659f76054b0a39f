using System.Net;
using Billing.Proxy.Failures;
using Grpc.AspNetCore.Server;
using Grpc.Core;

namespace Billing.Proxy.Live;

/// <summary>Counts and times calls, over gRPC and REST, and keeps the failed ones, while somebody watches the live
/// page. It sees each answer as its caller gets it.</summary>
internal static class CallWatch
{
    private static readonly string[] RestCalls = ["/v1/", "/live/payments"];
    private static readonly HashSet<string> GrpcServices =
    [
        .. V1.BillingReflection.Descriptor.Services.Select(service => service.FullName),
    ];

    /// <summary>The middleware.</summary>
    public static Task InvokeAsync(LiveWatch watch, HttpContext http, RequestDelegate next) =>
        watch.Record is not { } record ? next(http)
        : GrpcEndpoints.IsGrpc(http) ? WatchAsync(record, http, next, NoteGrpc)
        : Array.Exists(RestCalls, start => RouteOf(http).StartsWith(start, StringComparison.Ordinal)) ? WatchAsync(
            record, http, next, NoteRest)
        : next(http);

    private static async Task WatchAsync(
        LiveRecord record, HttpContext http, RequestDelegate next, Action<LiveRecord, HttpContext, TimeSpan> note)
    {
        var since = record.Time.GetTimestamp();
        try
        {
            await next(http);
        }
        catch
        {
            record.Calls.Failed();
            throw;
        }
        note(record, http, record.Time.GetElapsedTime(since));
    }

    private static void NoteGrpc(LiveRecord record, HttpContext http, TimeSpan duration)
    {
        var status = GrpcFailure.TrailerOf(http, "grpc-status");
        if (status != "0")
        {
            record.Calls.Failed();
            if (status is not null)
            {
                record.Failures.Add(
                    RouteOf(http).TrimStart('/'),
                    Enum.TryParse<StatusCode>(status, out var code) ? code.ToString() : status,
                    GrpcFailure.ReasonOf(http), WebUtility.UrlDecode(GrpcFailure.TrailerOf(http, "grpc-message")));
            }
        }
        else if (HasOneAnswer(http))
        {
            record.Calls.Took(duration);
        }
    }

    // Not a stream, whose duration depends on its caller, and not a question of a health check.
    private static bool HasOneAnswer(HttpContext http) => http.GetEndpoint()?.Metadata.GetMetadata<GrpcMethodMetadata>()
        is { Method: { Type: MethodType.Unary, ServiceName: var service } } && GrpcServices.Contains(service);

    private static void NoteRest(LiveRecord record, HttpContext http, TimeSpan duration)
    {
        if (http.Response.StatusCode < StatusCodes.Status400BadRequest)
        {
            record.Calls.Took(duration);
            return;
        }
        record.Calls.Failed();
        if (http.Features.Get<Failure>() is { } failure)
        {
            record.Failures.Add(
                $"{http.Request.Method} {RouteOf(http)}",
                $"{http.Response.StatusCode} {failure.Status}", failure.Reason, failure.Message);
        }
    }

    // Not the path: callers could displace all other failures with paths that they make up.
    private static string RouteOf(HttpContext http) =>
        (http.GetEndpoint() as RouteEndpoint)?.RoutePattern.RawText ?? "";
}
