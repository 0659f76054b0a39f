using System.Globalization;
using System.Text.Json.Serialization;
using Billing.Contracts;
using Grpc.Core;
using Microsoft.AspNetCore.WebUtilities;

namespace Billing.Proxy.Failures;

/// <summary>Errors as REST callers see them: the same as for gRPC callers, with an HTTP status.</summary>
internal static class RestFailure
{
    /// <summary>Answers with a failure.</summary>
    public static void Write(HttpResponse response, Failure failure)
    {
        // For who watches the answers: the body is sent by then.
        response.HttpContext.Features.Set(failure);
        long? wait = failure.RetryAfter is { } after ? (long)after.TotalMilliseconds : null;
        if (wait is { } known)
        {
            response.Headers.RetryAfter = Math.Max(1, (known + 999) / 1000).ToString(CultureInfo.InvariantCulture);
        }
        Write(
            response, StatusOf(failure), failure.Reason, failure.Message,
            failure.Field.Length == 0 ? null : failure.Field, wait);
    }

    /// <summary>Answers with an error that has an HTTP status but no gRPC one.</summary>
    public static void Write(
        HttpResponse response, int status, string? reason, string detail,
        string? field = null, long? retryAfterMs = null)
    {
        KeepPrivate(response);
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

    /// <summary>Says of an answer that nobody may keep it, and that it is what its content type says: what an account
    /// owes is for whoever asked.</summary>
    public static void KeepPrivate(HttpResponse response)
    {
        response.Headers.CacheControl = "no-store";
        response.Headers.XContentTypeOptions = "nosniff";
    }

    /// <summary>The HTTP status of a failure.</summary>
    internal static int StatusOf(Failure failure) => failure.Status switch
    {
        StatusCode.InvalidArgument when failure.Reason == ErrorReasons.RequestTooLarge =>
            StatusCodes.Status413PayloadTooLarge,
        StatusCode.InvalidArgument or StatusCode.FailedPrecondition or StatusCode.OutOfRange =>
            StatusCodes.Status400BadRequest,
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

/// <summary>An error, as problem details of RFC 9457.</summary>
internal sealed class ProblemAnswer
{
    /// <summary>The short name of the status.</summary>
    public required string Title { get; init; }

    /// <summary>The HTTP status.</summary>
    public required int Status { get; init; }

    /// <summary>What happened, for a person.</summary>
    public required string Detail { get; init; }

    /// <summary>The constant for programs, e.g. INVALID_FIELD: the same as of google.rpc.ErrorInfo over gRPC.</summary>
    public string? Reason { get; init; }

    /// <summary>The field at fault, if one is, e.g. amount.units.</summary>
    public string? Field { get; init; }

    /// <summary>How long to wait before a retry, in milliseconds; Retry-After has whole seconds only.</summary>
    public long? RetryAfterMs { get; init; }
}

[JsonSourceGenerationOptions(
    GenerationMode = JsonSourceGenerationMode.Metadata,
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(ProblemAnswer))]
internal sealed partial class ProblemJson : JsonSerializerContext;
