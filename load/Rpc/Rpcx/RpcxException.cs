using Grpc.Core;

namespace Billing.Rpc.Rpcx;

/// <summary>A failed call: UNAVAILABLE without a connection, or with one that was lost before the reply, after which
/// the call may have been executed. An implementation throws it to return an error to the caller; any other exception
/// of an implementation reaches the caller as INTERNAL, without its message.</summary>
/// <param name="statusCode">The gRPC status code; not OK.</param>
/// <param name="message">The error message, as text for people.</param>
/// <param name="innerException">The cause; it is not sent to the caller.</param>
public sealed class RpcxException(StatusCode statusCode, string message, Exception? innerException = null)
    : Exception(message, innerException)
{
    /// <summary>The gRPC status code.</summary>
    public StatusCode StatusCode => statusCode;
}
