using Billing.Client;
using Billing.Contracts;
using Grpc.Core;

namespace Billing.Driver;

/// <summary>Whether a failed payment is certain not to be charged.</summary>
public static class PaymentFailure
{
    /// <summary>Whether a failure of a call is final.</summary>
    /// <param name="failure">The failure of the last attempt.</param>
    /// <param name="wasRetried">Whether there may have been earlier attempts.</param>
    public static bool IsFinal(RpcException failure, bool wasRetried) =>
        IsFinal(failure.StatusCode, BillingClient.Reason(failure), wasRetried);

    /// <summary>Whether a failure is final: the contract says that nothing was charged and that the same request never
    /// will be. An earlier attempt may be recorded although the last one was not allowed, or came too late.</summary>
    /// <param name="status">The status of the last attempt.</param>
    /// <param name="wasRetried">Whether there may have been earlier attempts.</param>
    public static bool IsFinal(StatusCode status, string reason, bool wasRetried) => status switch
    {
        StatusCode.InvalidArgument or StatusCode.AlreadyExists or StatusCode.FailedPrecondition or StatusCode.OutOfRange
            or StatusCode.NotFound => true,
        StatusCode.Unauthenticated or StatusCode.PermissionDenied or StatusCode.Unimplemented => !wasRetried,
        StatusCode.DeadlineExceeded => !wasRetried && reason == ErrorReasons.CommandExpired,
        _ => false,
    };
}
