using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Rpc.Proxies;

/// <summary>The replies to callers when calls to one backend fail. The backend's address and the cause are only logged,
/// for the operators, with at most one line per second.</summary>
internal sealed partial class CallFailures(string address, TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan LogInterval = TimeSpan.FromSeconds(1);

    private long _logged = long.MinValue;

    /// <summary>Returns the reply for a backend that cannot be reached or whose connection was lost.</summary>
    public Reply Unavailable(string reason)
    {
        Log(reason);
        return Replies.Error(
            0, StatusCode.Unavailable, ErrorReasons.BackendUnavailable,
            "The backend that serves this account is unavailable.");
    }

    /// <summary>Returns the reply for a backend that answered with an error or an invalid reply.</summary>
    public Reply InvalidReply(StatusCode status, string reason)
    {
        Log(reason);
        return Replies.Error(
            0, status, ErrorReasons.ProcessingFailed, "The backend that serves this account sent no valid reply.");
    }

    private void Log(string reason)
    {
        var now = time.GetTimestamp();
        var last = Volatile.Read(ref _logged);
        if ((last == long.MinValue || time.GetElapsedTime(last, now) >= LogInterval)
            && Interlocked.CompareExchange(ref _logged, now, last) == last)
        {
            CallFailed(logger, address, reason);
        }
    }

    [LoggerMessage(150, LogLevel.Warning, "Calls to the backend at {Address} fail: {Reason}")]
    private static partial void CallFailed(ILogger logger, string address, string reason);
}
