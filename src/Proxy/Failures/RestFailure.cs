using System.Globalization;
using Billing.Contracts;
using Grpc.Core;
using Microsoft.AspNetCore.WebUtilities;

namespace Billing.Proxy.Failures;

/// <summary>Errors as REST callers see them: the same as for gRPC callers, with an HTTP status.</summary>
internal static class RestFailure
{
    /// <summary>Answers with an error.</summary>
    public static void Write(HttpResponse response, RpcException failure)
    {
        var reason = failure.Trailers.GetValue(Trailers.Reason);
        long? wait = long.TryParse(
            failure.Trailers.GetValue(Trailers.RetryPushback), CultureInfo.InvariantCulture, out var milliseconds) ? milliseconds : null;
        if (wait is { } known)
        {
            response.Headers.RetryAfter = Math.Max(1, (known + 999) / 1000).ToString(CultureInfo.InvariantCulture);
        }
        Write(response, StatusOf(failure.StatusCode, reason), reason, failure.Status.Detail,
            failure.Trailers.GetValue(Trailers.Field), wait);
    }

    /// <summary>Answers with an error that has an HTTP status but no gRPC one.</summary>
    public static void Write(
        HttpResponse response, int status, string? reason, string detail, string? field = null, long? retryAfterMs = null)
    {
        response.StatusCode = status;
        var problem = new ProblemAnswer
        {
            Title = ReasonPhrases.GetReasonPhrase(status),
            Status = status,
            Detail = detail,
            Reason = reason,
            Field = field,
            RetryAfterMs = retryAfterMs,
        };
        JsonBody.Write(response, problem, ProblemJson.Default.ProblemAnswer, "application/problem+json");
    }

    /// <summary>The HTTP status for a gRPC status.</summary>
    internal static int StatusOf(StatusCode status, string? reason) => status switch
    {
        StatusCode.InvalidArgument when reason == ErrorReasons.RequestTooLarge => StatusCodes.Status413PayloadTooLarge,
        StatusCode.InvalidArgument or StatusCode.FailedPrecondition or StatusCode.OutOfRange => StatusCodes.Status400BadRequest,
        StatusCode.Unauthenticated => StatusCodes.Status401Unauthorized,
        StatusCode.PermissionDenied => StatusCodes.Status403Forbidden,
        StatusCode.NotFound => StatusCodes.Status404NotFound,
        StatusCode.AlreadyExists or StatusCode.Aborted => StatusCodes.Status409Conflict,
        StatusCode.ResourceExhausted => StatusCodes.Status429TooManyRequests,
        StatusCode.Cancelled => StatusCodes.Status499ClientClosedRequest,
        StatusCode.Unimplemented => StatusCodes.Status501NotImplemented,
        StatusCode.Unavailable => StatusCodes.Status503ServiceUnavailable,
        StatusCode.DeadlineExceeded => StatusCodes.Status504GatewayTimeout,
        _ => StatusCodes.Status500InternalServerError,
    };
}
