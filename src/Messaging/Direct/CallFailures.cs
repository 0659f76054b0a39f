using Billing.Contracts;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Direct;

/// <summary>What callers are told of calls to one backend that brought no reply. Where the backend is and what broke is for the
/// operators, and in the log: a line a second, however many calls fail.</summary>
/// <param name="address">The backend's address.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">The log.</param>
internal sealed partial class CallFailures(string address, TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan LogInterval = TimeSpan.FromSeconds(1);

    private long _logged = long.MinValue;

    /// <summary>The backend cannot be reached, or its connection broke.</summary>
    public Reply Away(string why)
    {
        Log(why);
        return Replies.Error(
            0, StatusCode.Unavailable, ErrorReasons.BackendUnavailable, "The backend that serves this account is away.");
    }

    /// <summary>The deadline came first.</summary>
    public static Reply Late() => Replies.NoAnswerInTime(0);

    /// <summary>The backend answered with something that is no reply.</summary>
    public Reply NoReply(StatusCode status, string what)
    {
        Log(what);
        return Replies.Error(0, status, ErrorReasons.ProcessingFailed, "The backend that serves this account gave no reply.");
    }

    private void Log(string what)
    {
        var now = time.GetTimestamp();
        var last = Volatile.Read(ref _logged);
        if ((last == long.MinValue || time.GetElapsedTime(last, now) >= LogInterval)
            && Interlocked.CompareExchange(ref _logged, now, last) == last)
        {
            CallFailed(logger, address, what);
        }
    }

    [LoggerMessage(150, LogLevel.Warning, "Calls to the backend at {Address} fail: {What}")]
    private static partial void CallFailed(ILogger logger, string address, string what);
}
