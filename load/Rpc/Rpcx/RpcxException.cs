using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Rpc.Rpcx;

/// <summary>A failed call. An implementation throws it to return an error to the caller; any other exception of an
/// implementation reaches the caller as INTERNAL, without its message.</summary>
public sealed class RpcxException : Exception
{
    /// <summary>Creates the exception.</summary>
    /// <param name="statusCode">The gRPC status code; not OK.</param>
    /// <param name="reason">The reason code for programs; those of RPCX itself are in <see cref="RpcxReasons"/>.</param>
    /// <param name="message">The error message, as text for people.</param>
    /// <param name="field">The request field that is invalid, if the error is about one.</param>
    /// <param name="innerException">The cause; it is not sent to the caller.</param>
    public RpcxException(
        StatusCode statusCode, string reason, string message, string field = "", Exception? innerException = null)
        : base(message, innerException)
    {
        ArgumentOutOfRangeException.ThrowIfEqual((int)statusCode, (int)StatusCode.OK);
        StatusCode = statusCode;
        Reason = reason;
        Field = field;
    }

    /// <summary>Creates an INTERNAL error with a message.</summary>
    public RpcxException(string message)
        : this(StatusCode.Internal, RpcxReasons.HandlerFailed, message)
    {
    }

    /// <summary>Creates an INTERNAL error with a message and a cause.</summary>
    public RpcxException(string message, Exception innerException)
        : this(StatusCode.Internal, RpcxReasons.HandlerFailed, message, innerException: innerException)
    {
    }

    /// <summary>Creates an INTERNAL error.</summary>
    public RpcxException()
        : this("The call failed.")
    {
    }

    /// <summary>The gRPC status code.</summary>
    public StatusCode StatusCode { get; }

    /// <summary>The reason code for programs; empty if the server gave none.</summary>
    public string Reason { get; }

    /// <summary>The request field that is invalid; empty if the error is not about one.</summary>
    public string Field { get; }

    internal static RpcxException From(Error error) => new(
        error.StatusCode is > 0 and <= (int)StatusCode.Unauthenticated ? (StatusCode)error.StatusCode : StatusCode.Unknown,
        error.Reason, error.Message, error.Field);

    internal Error ToError() =>
        new() { StatusCode = (int)StatusCode, Reason = Reason, Message = Message, Field = Field };
}
