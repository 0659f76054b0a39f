using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Rpc.Rpcx;

/// <summary>A failed call. An implementation throws it to return an error to the caller; any other exception of an
/// implementation reaches the caller as INTERNAL, without its message.</summary>
/// <param name="statusCode">The gRPC status code; not OK.</param>
/// <param name="reason">The reason code for programs; those of RPCX itself are in <see cref="RpcxReasons"/>.</param>
/// <param name="message">The error message, as text for people.</param>
/// <param name="field">The request field that is invalid, if the error is about one.</param>
/// <param name="innerException">The cause; it is not sent to the caller.</param>
public sealed class RpcxException(
    StatusCode statusCode, string reason, string message, string field = "", Exception? innerException = null)
    : Exception(message, innerException)
{
    /// <summary>The gRPC status code.</summary>
    public StatusCode StatusCode => statusCode;

    /// <summary>The reason code for programs; empty if the server gave none.</summary>
    public string Reason => reason;

    /// <summary>The request field that is invalid; empty if the error is not about one.</summary>
    public string Field { get; } = field;

    internal static RpcxException From(Error error) => new(
        error.StatusCode is > 0 and <= (int)StatusCode.Unauthenticated ? (StatusCode)error.StatusCode : StatusCode.Unknown,
        error.Reason, error.Message, error.Field);
}
