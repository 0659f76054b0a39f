using Billing.Contracts;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Classifies failures by whether the called proxy causes them.</summary>
internal static class ProxyFailure
{
    /// <summary>Returns whether the connection broke. The status is then set by the client side, not by the proxy: if a proxy
    /// stops or is cut off during a call, gRPC reports Internal; if it does not answer the handshake of TLS in time, Cancelled,
    /// and only the cause differs from that of a caller that cancels.</summary>
    public static bool IsBrokenConnection(Status status) =>
        status is { StatusCode: StatusCode.Internal, DebugException: HttpRequestException or IOException }
        || (status.StatusCode == StatusCode.Cancelled && status.DebugException?.GetBaseException() is TimeoutException);

    /// <summary>Returns whether the failure is specific to this proxy, so that another one may succeed: this one cannot be
    /// reached, is shutting down, or has lost its broker. Failures of the back ends and overload affect the other proxies too.
    /// </summary>
    public static bool IsProxySpecific(RpcException failure) =>
        IsBrokenConnection(failure.Status)
        || (failure.StatusCode == StatusCode.Unavailable
            && BillingClient.Reason(failure) is "" or ErrorReasons.ShuttingDown or ErrorReasons.BrokerUnavailable);

    /// <summary>Returns whether the call ended before an answer of the proxy, by its own deadline or its caller, which says nothing
    /// about the proxy: it may be slow, or away.</summary>
    public static bool IsUnanswered(RpcException failure) =>
        failure.StatusCode is StatusCode.DeadlineExceeded or StatusCode.Cancelled
        && BillingClient.Reason(failure) is "" && !IsBrokenConnection(failure.Status);
}
