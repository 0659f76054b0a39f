using System.Globalization;
using Billing.Contracts;
using Grpc.Core;

namespace Billing.Proxy;

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

    /// <summary>What a backend answered instead of a result.</summary>
    public static RpcException From(Wire.V1.Error error)
    {
        var trailers = new Metadata { { Trailers.Reason, error.Reason } };
        if (error.Field.Length > 0)
        {
            trailers.Add(Trailers.Field, error.Field);
        }
        return new RpcException(new Status((StatusCode)error.StatusCode, error.Message), trailers);
    }
}
