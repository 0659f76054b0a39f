using Billing.Contracts;
using Grpc.Core;

namespace Billing.Client;

/// <summary>What a failure says about the proxy that it came from.</summary>
internal static class ProxyFailure
{
    /// <summary>Said by this end of the connection, not by the proxy: a proxy that stopped or was cut off while it had the call is
    /// told as Internal.</summary>
    public static bool IsBrokenConnection(Status status) =>
        status is { StatusCode: StatusCode.Internal, DebugException: HttpRequestException or IOException };

    /// <summary>Whether another proxy may be better off: this one cannot be reached, is going, or has lost its broker. What
    /// comes from behind it, or tells that it is full, it has in common with the others.</summary>
    public static bool IsItsOwn(RpcException failure) =>
        IsBrokenConnection(failure.Status)
        || (failure.StatusCode == StatusCode.Unavailable
            && BillingClient.Reason(failure) is "" or ErrorReasons.ShuttingDown or ErrorReasons.BrokerUnavailable);
}
