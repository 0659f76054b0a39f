using Billing.Contracts;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Classifies failures by whether the called proxy causes them.</summary>
internal static class ProxyFailure
{
    /// <summary>Returns whether the connection broke. The status is then set by the client side, not by the proxy: if a proxy
    /// stops or is cut off during a call, gRPC reports Internal.</summary>
    public static bool IsBrokenConnection(Status status) =>
        status is { StatusCode: StatusCode.Internal, DebugException: HttpRequestException or IOException };

    /// <summary>Returns whether the failure is specific to this proxy, so that another one may succeed: this one cannot be
    /// reached, is shutting down, or has lost its broker. Failures of the back ends and overload affect the other proxies too.
    /// </summary>
    public static bool IsProxySpecific(RpcException failure) =>
        IsBrokenConnection(failure.Status)
        || (failure.StatusCode == StatusCode.Unavailable
            && BillingClient.Reason(failure) is "" or ErrorReasons.ShuttingDown or ErrorReasons.BrokerUnavailable);
}
