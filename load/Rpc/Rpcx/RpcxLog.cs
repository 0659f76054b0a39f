namespace Billing.Rpc.Rpcx;

/// <summary>Log messages of RPCX.</summary>
internal static partial class RpcxLog
{
    [LoggerMessage(300, LogLevel.Information, "Listening for RPCX on {Address}")]
    public static partial void Listening(ILogger logger, string address);

    [LoggerMessage(301, LogLevel.Debug, "{Peer} connected")]
    public static partial void Accepted(ILogger logger, string peer);

    [LoggerMessage(302, LogLevel.Debug, "{Peer} disconnected: {Reason}")]
    public static partial void Disconnected(ILogger logger, string peer, string reason);

    [LoggerMessage(303, LogLevel.Warning, "Closed the connection of {Peer}: {Reason}")]
    public static partial void Refused(ILogger logger, string peer, string reason);

    [LoggerMessage(304, LogLevel.Error, "The implementation of {Method} failed")]
    public static partial void HandlerFailed(ILogger logger, string method, Exception exception);

    [LoggerMessage(305, LogLevel.Warning, "Stopped with {Calls} calls unanswered after {Waited}")]
    public static partial void Abandoned(ILogger logger, int calls, TimeSpan waited);

    [LoggerMessage(306, LogLevel.Error, "Cannot accept connections at the moment: {Reason}")]
    public static partial void AcceptFailed(ILogger logger, string reason);

    [LoggerMessage(307, LogLevel.Error, "A connection ended because of an internal error")]
    public static partial void ConnectionFailed(ILogger logger, Exception exception);

    [LoggerMessage(310, LogLevel.Information, "Connected to {Address}")]
    public static partial void Connected(ILogger logger, string address);

    [LoggerMessage(311, LogLevel.Warning, "Cannot connect to {Address}: {Reason}; calls fail for {Backoff}")]
    public static partial void ConnectFailed(ILogger logger, string address, string reason, TimeSpan backoff);

    [LoggerMessage(312, LogLevel.Warning, "The connection to {Address} is lost with {Calls} calls in flight: {Reason}")]
    public static partial void ConnectionLost(ILogger logger, string address, int calls, string reason);

    [LoggerMessage(313, LogLevel.Information, "{Address} is shutting down; {Calls} calls in flight will finish there")]
    public static partial void GoingAway(ILogger logger, string address, int calls);
}
