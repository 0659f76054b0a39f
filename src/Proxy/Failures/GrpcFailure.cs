using System.Globalization;
using Billing.Contracts;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using Microsoft.AspNetCore.Http.Features;
using Rpc = Google.Rpc;

namespace Billing.Proxy.Failures;

/// <summary>Failures as gRPC callers see them: a status, a text for people, and for programs the details of
/// google.rpc.Status, which every language's gRPC library reads.</summary>
internal static class GrpcFailure
{
    /// <summary>The exception with which a gRPC method answers a failure.</summary>
    public static RpcException ToRpcException(this Failure failure) =>
        new(new Status(failure.Status, failure.Message), TrailersOf(failure));

    /// <summary>Answers with a failure without a message before it (Trailers-Only):
    /// the trailers are sent as headers.</summary>
    public static void WriteTrailers(IHeaderDictionary headers, Failure failure)
    {
        headers["grpc-status"] = ((int)failure.Status).ToString(CultureInfo.InvariantCulture);
        headers["grpc-message"] = Uri.EscapeDataString(failure.Message);
        foreach (var trailer in TrailersOf(failure))
        {
            headers[trailer.Key] = trailer.IsBinary ? Convert.ToBase64String(trailer.ValueBytes) : trailer.Value;
        }
    }

    /// <summary>A trailer of an answer, which is in the headers if the call was answered without a message;
    /// null if there is none.</summary>
    public static string? TrailerOf(HttpContext http, string name) =>
        http.Features.Get<IHttpResponseTrailersFeature>()?.Trailers is { } trailers
        && trailers.TryGetValue(name, out var trailer)
            ? trailer
            : http.Response.Headers[name];

    /// <summary>The reason in an answer, as its caller gets it; null if there is none, as where the gRPC library
    /// refused the call. It decodes the details, so it is for failed calls only.</summary>
    public static string? ReasonOf(HttpContext http) =>
        TrailerOf(http, MetadataExtensions.StatusDetailsTrailerName) is { } details
            ? Rpc.Status.Parser.ParseFrom(Convert.FromBase64String(details)).GetDetail<Rpc.ErrorInfo>()?.Reason
            : null;

    private static Metadata TrailersOf(Failure failure)
    {
        var details = new Rpc.Status { Code = (int)failure.Status, Message = failure.Message };
        details.Details.Add(Any.Pack(new Rpc.ErrorInfo { Domain = ErrorDetails.Domain, Reason = failure.Reason }));
        var trailers = new Metadata();
        if (failure.Field.Length > 0)
        {
            var violation =
                new Rpc.BadRequest.Types.FieldViolation { Field = failure.Field, Description = failure.Message };
            details.Details.Add(Any.Pack(new Rpc.BadRequest { FieldViolations = { violation } }));
        }
        if (failure.RetryAfter is { } wait)
        {
            details.Details.Add(Any.Pack(new Rpc.RetryInfo { RetryDelay = Duration.FromTimeSpan(wait) }));
            trailers.Add(Trailers.RetryPushback, ((long)wait.TotalMilliseconds).ToString(CultureInfo.InvariantCulture));
        }
        trailers.SetRpcStatus(details);
        return trailers;
    }
}
