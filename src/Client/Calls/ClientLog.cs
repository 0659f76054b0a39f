using Grpc.Core;
using Microsoft.Extensions.Logging;

namespace Billing.Client;

/// <summary>What a client logs: failures, without what requests contain.</summary>
internal static partial class ClientLog
{
    [LoggerMessage(1, LogLevel.Information, "{Method}: attempt {Attempt}, at {Proxy}, failed: {Status} {Reason}: {Failure}")]
    public static partial void AttemptFailed(
        this ILogger log, string method, int attempt, string proxy, StatusCode status, string reason, string failure);

    [LoggerMessage(2, LogLevel.Warning, "{Method} failed after {Attempts} attempts: {Status} {Reason}: {Failure}")]
    public static partial void CallFailed(this ILogger log, string method, int attempts, StatusCode status, string reason, string failure);

    [LoggerMessage(3, LogLevel.Information, "{Method}: the stream to {Proxy} ended: {Status} {Reason}: {Failure}")]
    public static partial void StreamFailed(this ILogger log, string method, string proxy, StatusCode status, string reason, string failure);

    [LoggerMessage(4, LogLevel.Warning, "{Proxy} is skipped for {Break}: half of the calls to it failed")]
    public static partial void CircuitOpened(this ILogger log, string proxy, TimeSpan @break);

    [LoggerMessage(5, LogLevel.Information, "{Proxy} is called again")]
    public static partial void CircuitClosed(this ILogger log, string proxy);

    [LoggerMessage(6, LogLevel.Warning, "The look-up of {Name} failed: {Failure}")]
    public static partial void LookUpFailed(this ILogger log, string name, string failure);
}
