using Billing.Contracts;

namespace Billing.Rpc.Rpcx;

/// <summary>The values of <see cref="RpcxException.Reason"/> that RPCX itself sets. They are never renamed.</summary>
public static class RpcxReasons
{
    /// <summary>UNAVAILABLE: there is no connection, and the call was not sent.</summary>
    public const string NotConnected = "RPCX_NOT_CONNECTED";

    /// <summary>UNAVAILABLE: the connection was lost after the call was sent; it may or may not have been executed.
    /// </summary>
    public const string ConnectionLost = "RPCX_CONNECTION_LOST";

    /// <summary>UNAVAILABLE: the server uses another version of the protocol, and the call was not sent.</summary>
    public const string VersionRefused = "RPCX_VERSION_REFUSED";

    /// <summary>UNAVAILABLE: this client was disposed.</summary>
    public const string ClientClosed = "RPCX_CLIENT_CLOSED";

    /// <summary>UNAVAILABLE: the server is shutting down and has not started the call.</summary>
    public const string ShuttingDown = ErrorReasons.ShuttingDown;

    /// <summary>DEADLINE_EXCEEDED: no reply arrived in time; the call may or may not have been executed.</summary>
    public const string NoAnswerInTime = ErrorReasons.NoAnswerInTime;

    /// <summary>UNIMPLEMENTED: the server publishes no such service or method.</summary>
    public const string MethodUnknown = "RPCX_METHOD_UNKNOWN";

    /// <summary>INVALID_ARGUMENT: the request is not a message of the method's type.</summary>
    public const string RequestUnreadable = "RPCX_REQUEST_UNREADABLE";

    /// <summary>INTERNAL: the reply is not a message of the method's type.</summary>
    public const string ReplyUnreadable = "RPCX_REPLY_UNREADABLE";

    /// <summary>RESOURCE_EXHAUSTED: the request or the reply is larger than the other end's <c>FrameBytesMax</c>.</summary>
    public const string FrameTooLarge = "RPCX_FRAME_TOO_LARGE";

    /// <summary>INTERNAL: the implementation failed; the server's log has the details.</summary>
    public const string HandlerFailed = "RPCX_HANDLER_FAILED";

    /// <summary>CANCELLED: the implementation cancelled the call.</summary>
    public const string HandlerCancelled = "RPCX_HANDLER_CANCELLED";

    /// <summary>INTERNAL: the other end violated the protocol, and the connection was closed.</summary>
    public const string ProtocolViolated = "RPCX_PROTOCOL_VIOLATED";
}
