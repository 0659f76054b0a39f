using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using Rpc = Google.Rpc;

namespace Billing.Proxy.Failures;

/// <summary>Errors as callers see them: a status, a detail for people, and for programs
/// the details of google.rpc.Status and trailers.</summary>
public static class Failure
{
    // The domain of the reasons, as google.rpc.ErrorInfo asks for one.
    private const string Domain = "billing";

    /// <summary>Creates an error.</summary>
    /// <param name="status">The gRPC status code.</param>
    /// <param name="reason">One of <see cref="ErrorReasons"/>.</param>
    /// <param name="message">What happened.</param>
    /// <param name="retryAfter">How long the caller should wait before a retry; null for no advice.</param>
    public static RpcException Create(StatusCode status, string reason, string message, TimeSpan? retryAfter = null) =>
        Create(status, reason, message, "", retryAfter);

    /// <summary>Creates the error for an invalid field: INVALID_ARGUMENT, INVALID_FIELD.</summary>
    public static RpcException BadField(FieldViolation violation) =>
        Create(StatusCode.InvalidArgument, ErrorReasons.InvalidField, violation.ToString(), violation.Field, null);

    /// <summary>Creates the error that a backend answered. Its status is checked, since an OK would make the call succeed without
    /// an answer; an invalid one becomes INTERNAL.</summary>
    public static RpcException From(Wire.V1.Error error)
    {
        var status = (StatusCode)error.StatusCode;
        return Create(
            status is > StatusCode.OK and <= StatusCode.Unauthenticated ? status : StatusCode.Internal, error.Reason, error.Message, error.Field, null);
    }

    /// <summary>Creates the error for a backend's reply of another kind than the request asks for.</summary>
    public static RpcException OtherReply(Wire.V1.Reply reply) => Create(
        StatusCode.Internal, ErrorReasons.ProcessingFailed, $"A backend answered with a reply of the wrong kind ({reply.ResultCase}).");

    /// <summary>Answers with an error without a message before it (Trailers-Only): the trailers are sent as headers.</summary>
    public static void WriteTrailers(IHeaderDictionary headers, RpcException failure)
    {
        headers["grpc-status"] = ((int)failure.StatusCode).ToString(CultureInfo.InvariantCulture);
        headers["grpc-message"] = Uri.EscapeDataString(failure.Status.Detail);
        foreach (var trailer in failure.Trailers)
        {
            headers[trailer.Key] = trailer.IsBinary ? Convert.ToBase64String(trailer.ValueBytes) : trailer.Value;
        }
    }

    /// <summary>Converts an error to an answer on a stream.</summary>
    public static PaymentError ToPaymentError(RpcException failure) => new()
    {
        StatusCode = (int)failure.StatusCode,
        Reason = failure.Trailers.GetValue(Trailers.Reason) ?? "",
        Message = failure.Status.Detail,
        Field = failure.Trailers.GetValue(Trailers.Field) ?? "",
    };

    // Every language's gRPC library reads the details of google.rpc.Status. The trailers say the same in words of our own.
    private static RpcException Create(StatusCode status, string reason, string message, string field, TimeSpan? retryAfter)
    {
        var details = new Rpc.Status { Code = (int)status, Message = message };
        details.Details.Add(Any.Pack(new Rpc.ErrorInfo { Domain = Domain, Reason = reason }));
        var trailers = new Metadata { { Trailers.Reason, reason } };
        if (field.Length > 0)
        {
            var violation = new Rpc.BadRequest.Types.FieldViolation { Field = field, Description = message };
            details.Details.Add(Any.Pack(new Rpc.BadRequest { FieldViolations = { violation } }));
            trailers.Add(Trailers.Field, field);
        }
        if (retryAfter is { } wait)
        {
            details.Details.Add(Any.Pack(new Rpc.RetryInfo { RetryDelay = Duration.FromTimeSpan(wait) }));
            trailers.Add(Trailers.RetryPushback, ((long)wait.TotalMilliseconds).ToString(CultureInfo.InvariantCulture));
        }
        trailers.SetRpcStatus(details);
        return new RpcException(new Status(status, message), trailers);
    }
}
