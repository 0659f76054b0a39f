using Billing.Contracts;
using Google.Rpc;
using Grpc.Core;
using Status = Grpc.Core.Status;

namespace Billing.Client;

/// <summary>Reads what a failure tells programs, from the details of google.rpc.Status, and whether the called proxy
/// causes it.</summary>
internal static class ProxyFailure
{
    private const string TriesKey = "Billing.Client.Tries";

    /// <summary>Returns a failure of a call, after a number of attempts that were sent.</summary>
    public static RpcException After(int tries, RpcException failure)
    {
        failure.Data[TriesKey] = tries;
        return failure;
    }

    /// <summary>Returns whether a failure is that of the only attempt.</summary>
    public static bool IsOfFirstTry(RpcException failure) => failure.Data[TriesKey] is 1;

    /// <summary>Returns one of <see cref="ErrorReasons"/>; empty if the failure has none of
    /// the platform's own.</summary>
    public static string Reason(RpcException failure) =>
        Details(failure)?.GetDetail<ErrorInfo>() is { Domain: ErrorDetails.Domain } info ? info.Reason : "";

    /// <summary>Returns the failure as text; never empty.</summary>
    public static string Message(RpcException failure) => Message(failure.StatusCode, failure.Status.Detail);

    /// <summary>Returns the text of a failure; never empty.</summary>
    public static string Message(StatusCode status, string text) =>
        text.Length > 0 ? text : $"It ended with the status {status}.";

    /// <summary>Returns the path of the invalid field; empty if no field is.</summary>
    public static string Field(RpcException failure) =>
        Details(failure)?.GetDetail<BadRequest>()?.FieldViolations.FirstOrDefault()?.Field ?? "";

    /// <summary>Returns how long to wait before a retry; null if nothing says so.</summary>
    public static TimeSpan? RetryAfter(RpcException failure) =>
        Details(failure)?.GetDetail<RetryInfo>()?.RetryDelay?.ToTimeSpan() is { } delay && delay >= TimeSpan.Zero
            ? delay
            : int.TryParse(failure.Trailers.GetValue(Trailers.RetryPushback), out var milliseconds) && milliseconds >= 0
                ? TimeSpan.FromMilliseconds(milliseconds)
            : null;

    /// <summary>Returns whether the proxy asks for no retry: by a push-back that is negative or no
    /// number (gRFC A6).</summary>
    public static bool ForbidsRetry(RpcException failure) =>
        failure.Trailers.GetValue(Trailers.RetryPushback) is { } pushback
        && !(int.TryParse(pushback, out var milliseconds) && milliseconds >= 0);

    /// <summary>Returns whether the connection broke. The status is then set by the client side, not by the proxy: if a
    /// proxy stops or is cut off during a call, gRPC reports Internal; if it does not answer the handshake of TLS in
    /// time, Cancelled, and only the cause differs from that of a caller that cancels.</summary>
    public static bool IsBrokenConnection(Status status) =>
        status is { StatusCode: StatusCode.Internal, DebugException: HttpRequestException or IOException }
        || (status.StatusCode == StatusCode.Cancelled && status.DebugException?.GetBaseException() is TimeoutException);

    /// <summary>Returns whether the failure is specific to this proxy, so that another one may succeed: this one
    /// cannot be reached, is shutting down, or has lost its broker. Failures of the back ends and overload affect the
    /// other proxies too.</summary>
    public static bool IsProxySpecific(RpcException failure) =>
        IsBrokenConnection(failure.Status)
        || (failure.StatusCode == StatusCode.Unavailable
            && Reason(failure) is "" or ErrorReasons.ShuttingDown or ErrorReasons.BrokerUnavailable);

    /// <summary>Returns whether a proxy ended a stream that it has served, because it was not used or its connection
    /// was open for long: another one is opened, and nothing has failed.</summary>
    public static bool IsEndOfStream(RpcException failure) =>
        failure.StatusCode == StatusCode.Unavailable
        && Reason(failure) is ErrorReasons.StreamIdle or ErrorReasons.StreamTooOld;

    /// <summary>Returns whether the call ended before an answer of the proxy, by its own deadline or its caller,
    /// which says nothing about the proxy: it may be slow, or away.</summary>
    public static bool IsUnanswered(RpcException failure) =>
        failure.StatusCode is StatusCode.DeadlineExceeded or StatusCode.Cancelled
        && Reason(failure) is "" && !IsBrokenConnection(failure.Status);

    // Details of another form come from something between the client and the platform.
    private static Google.Rpc.Status? Details(RpcException failure) =>
        failure.Trailers.GetRpcStatus(ignoreParseError: true);
}
