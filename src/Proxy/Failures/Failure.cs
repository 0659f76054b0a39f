using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.Proxy.Failures;

/// <summary>Errors as callers see them: a status, a detail for people, and trailers for programs.</summary>
public static class Failure
{
    /// <summary>An error.</summary>
    /// <param name="status">The gRPC status code.</param>
    /// <param name="reason">One of <see cref="ErrorReasons"/>.</param>
    /// <param name="message">What happened.</param>
    /// <param name="retryAfter">How long the caller should wait before it tries again.</param>
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

    /// <summary>A bad field.</summary>
    public static RpcException BadField(FieldViolation violation) => new(
        new Status(StatusCode.InvalidArgument, violation.ToString()),
        new Metadata { { Trailers.Reason, ErrorReasons.InvalidField }, { Trailers.Field, violation.Field } });

    /// <summary>What a backend answered instead of a result. Its status is not trusted: one that is no error would have the
    /// call succeed without an answer.</summary>
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

    /// <summary>A backend answered something else than it was asked for.</summary>
    public static RpcException OtherReply(Wire.V1.Reply reply) => Create(
        StatusCode.Internal, ErrorReasons.ProcessingFailed, $"A backend answered with another kind of reply ({reply.ResultCase}).");

    /// <summary>A failure as an answer on a stream.</summary>
    public static PaymentError ToPaymentError(RpcException failure) => new()
    {
        StatusCode = (int)failure.StatusCode,
        Reason = failure.Trailers.GetValue(Trailers.Reason) ?? "",
        Message = failure.Status.Detail,
        Field = failure.Trailers.GetValue(Trailers.Field) ?? "",
    };
}
