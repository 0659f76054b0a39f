using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Converts answers and failures of the wire to the results of the SDK.</summary>
internal static class Outcomes
{
    public static PaymentResult Of(Payment payment, MakePaymentResponse answer) =>
        Of(payment.Id, answer) ?? new PaymentResult.Unknown(payment.Id, "", NoOutcome(answer));

    /// <summary>Returns the result of one payment of a bulk run.</summary>
    public static PaymentResult Of(MakePaymentResponse answer)
    {
        var id = Guid.Parse(answer.TransactionId);
        return answer.Outcome != PaymentOutcome.Failed
            ? Of(id, answer) ?? new PaymentResult.Unknown(id, "", NoOutcome(answer))
            : RejectionOf((StatusCode)answer.Error.StatusCode, answer.Error.Reason, isFirstTry: false) is { } reason
                ? new PaymentResult.Rejected(id, reason, answer.Error.Field, answer.Error.Message)
                : new PaymentResult.Unknown(id, answer.Error.Reason, answer.Error.Message);
    }

    /// <param name="payment">The payment.</param>
    /// <param name="failure">The failure of the last attempt.</param>
    /// <param name="isFirstTry">Whether it was the only attempt.</param>
    public static PaymentResult Of(Payment payment, RpcException failure, bool isFirstTry) =>
        RejectionOf(failure.StatusCode, BillingClient.Reason(failure), isFirstTry) is { } reason
            ? new PaymentResult.Rejected(payment.Id, reason, ErrorDetails.Field(failure), failure.Status.Detail)
            : new PaymentResult.Unknown(payment.Id, BillingClient.Reason(failure), failure.Status.Detail, ErrorDetails.RetryAfter(failure));

    public static CreditLimitResult Of(CreditLimit limit, SetCreditLimitResponse answer) =>
        new CreditLimitResult.Applied(limit.Id, Amount.Of(answer.Limit), Amount.Of(answer.Balance), answer.Version);

    public static CreditLimitResult Of(CreditLimit limit, RpcException failure, bool isFirstTry) =>
        RejectionOf(failure.StatusCode, BillingClient.Reason(failure), isFirstTry) is { } reason
            ? new CreditLimitResult.Rejected(limit.Id, reason, ErrorDetails.Field(failure), failure.Status.Detail)
            : new CreditLimitResult.Unknown(limit.Id, BillingClient.Reason(failure), failure.Status.Detail, ErrorDetails.RetryAfter(failure));

    /// <summary>Returns the exception for a failed query.</summary>
    public static BillingException ToException(RpcException failure) =>
        RejectionOf(failure.StatusCode, BillingClient.Reason(failure), isFirstTry: true) is { } reason
            ? new BillingException(reason, ErrorDetails.Field(failure), failure.Status.Detail, failure)
            : new BillingException(BillingClient.Reason(failure), failure.Status.Detail, ErrorDetails.RetryAfter(failure), failure);

    private static PaymentResult? Of(Guid id, MakePaymentResponse answer) => answer.Outcome switch
    {
        PaymentOutcome.Accepted => new PaymentResult.Accepted(id, Amount.Of(answer.Balance), answer.Version),
        PaymentOutcome.Declined => new PaymentResult.Declined(
            id, answer.DeclineReason, answer.Message, Amount.Of(answer.Balance), answer.Version),
        _ => null,
    };

    // Null if a retry may have another outcome. That the caller has no permission now says nothing about earlier attempts, which
    // may have been recorded.
    private static RejectionReason? RejectionOf(StatusCode status, string reason, bool isFirstTry) => status switch
    {
        StatusCode.InvalidArgument => RejectionReason.InvalidField,
        StatusCode.AlreadyExists => RejectionReason.IdReused,
        StatusCode.FailedPrecondition when reason == ErrorReasons.CurrencyMismatch => RejectionReason.CurrencyMismatch,
        StatusCode.OutOfRange when reason == ErrorReasons.VersionNotReached => RejectionReason.VersionNotReached,
        StatusCode.FailedPrecondition or StatusCode.OutOfRange or StatusCode.NotFound => RejectionReason.Other,
        StatusCode.Unauthenticated when isFirstTry => RejectionReason.NotAuthenticated,
        StatusCode.PermissionDenied when isFirstTry => RejectionReason.NotAllowed,
        StatusCode.Unimplemented when isFirstTry => RejectionReason.Other,
        _ => null,
    };

    // For answers of a platform that is newer than this client.
    private static string NoOutcome(MakePaymentResponse answer) => $"The answer has an unknown outcome ({(int)answer.Outcome}).";
}
