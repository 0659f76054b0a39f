using Grpc.Core;
using Microsoft.Extensions.Logging;

namespace Billing.Client;

/// <summary>What a client logs: failures, without what requests contain. The message of a failure because of a request
/// may quote it, and is left out.</summary>
internal static partial class ClientLog
{
    /// <summary>Logs a failed attempt, unless it failed because of its request, which the outcome tells.</summary>
    public static void AttemptFailed(this ILogger log, RpcException failure, string method, int attempt, string proxy)
    {
        if (!Outcomes.IsOfRequest(failure))
        {
            AttemptFailed(log, method, attempt, proxy, TextOf(failure));
        }
    }

    /// <summary>Logs a call that failed for good.</summary>
    public static void CallFailed(this ILogger log, RpcException failure, string method, int attempts) =>
        CallFailed(log, method, attempts, TextOf(failure));

    /// <summary>Logs a stream that ended with a failure.</summary>
    public static void StreamFailed(this ILogger log, RpcException failure, string method, string proxy) =>
        StreamFailed(log, method, proxy, TextOf(failure));

    // The status, the platform's reason if there is one, and the message.
    private static string TextOf(RpcException failure)
    {
        var status = $"{failure.StatusCode} {ProxyFailure.Reason(failure)}".TrimEnd();
        return Outcomes.IsOfRequest(failure) ? status : $"{status}: {ProxyFailure.Message(failure)}";
    }

    [LoggerMessage(1, LogLevel.Information, "{Method}: attempt {Attempt}, at {Proxy}, failed: {Failure}")]
    private static partial void AttemptFailed(ILogger log, string method, int attempt, string proxy, string failure);

    [LoggerMessage(2, LogLevel.Warning, "{Method} failed after {Attempts} attempts: {Failure}")]
    private static partial void CallFailed(ILogger log, string method, int attempts, string failure);

    [LoggerMessage(3, LogLevel.Information, "{Method}: the stream to {Proxy} ended: {Failure}")]
    private static partial void StreamFailed(ILogger log, string method, string proxy, string failure);

    [LoggerMessage(4, LogLevel.Warning, "{Proxy} is skipped for {Break}: half of the calls to it failed")]
    public static partial void CircuitOpened(this ILogger log, string proxy, TimeSpan @break);

    [LoggerMessage(5, LogLevel.Information, "{Proxy} is called again")]
    public static partial void CircuitClosed(this ILogger log, string proxy);

    [LoggerMessage(6, LogLevel.Warning, "The look-up of {Name} failed: {Failure}")]
    public static partial void LookUpFailed(this ILogger log, string name, string failure);
}
