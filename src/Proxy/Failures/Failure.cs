using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.Proxy.Failures;

/// <summary>Errors as callers see them: a status, a detail for people, and trailers for programs.</summary>
public static class Failure
{
    /// <summary>Creates an error.</summary>
    /// <param name="status">The gRPC status code.</param>
    /// <param name="reason">One of <see cref="ErrorReasons"/>.</param>
    /// <param name="message">What happened.</param>
    /// <param name="retryAfter">How long the caller should wait before a retry; null for no advice.</param>
    public static RpcException Create(StatusCode status, string reason, string message, TimeSpan? retryAfter = null)
    {
        var trailers = new Metadata { { Trailers.Reason, reason } };
        if (retryAfter is { } wait)
        {
            trailers.Add(Trailers.RetryPushback,
                ((long)wait.TotalMilliseconds).ToString(CultureInfo.InvariantCulture));
        }
        return new RpcException(new Status(status, message), trailers);
    }

    /// <summary>Creates the error for an invalid field: INVALID_ARGUMENT, INVALID_FIELD.</summary>
    public static RpcException BadField(FieldViolation violation) => new(
        new Status(StatusCode.InvalidArgument, violation.ToString()),
        new Metadata { { Trailers.Reason, ErrorReasons.InvalidField }, { Trailers.Field, violation.Field } });

    /// <summary>Creates the error that a backend answered. Its status is checked, since an OK would make the call succeed without
    /// an answer; an invalid one becomes INTERNAL.</summary>
    public static RpcException From(Wire.V1.Error error)
    {
        var trailers = new Metadata { { Trailers.Reason, error.Reason } };
        if (error.Field.Length > 0)
        {
            trailers.Add(Trailers.Field, error.Field);
        }
        var status = (StatusCode)error.StatusCode;
        return new RpcException(
            new Status(status is > StatusCode.OK and <= StatusCode.Unauthenticated ? status : StatusCode.Internal, error.Message),
            trailers);
    }

    /// <summary>Creates the error for a backend's reply of another kind than the request asks for.</summary>
    public static RpcException OtherReply(Wire.V1.Reply reply) => Create(
        StatusCode.Internal, ErrorReasons.ProcessingFailed, $"A backend answered with a reply of the wrong kind ({reply.ResultCase}).");

    /// <summary>Converts an error to an answer on a stream.</summary>
    public static PaymentError ToPaymentError(RpcException failure) => new()
    {
        StatusCode = (int)failure.StatusCode,
        Reason = failure.Trailers.GetValue(Trailers.Reason) ?? "",
        Message = failure.Status.Detail,
        Field = failure.Trailers.GetValue(Trailers.Field) ?? "",
    };
}
