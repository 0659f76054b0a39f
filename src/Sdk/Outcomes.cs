using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>What answers and failures mean to a caller.</summary>
internal static class Outcomes
{
    public static PaymentResult Of(Payment payment, MakePaymentResponse answer) =>
        Of(payment.Id, answer) ?? new PaymentResult.Unknown(payment.Id, "", NoOutcome(answer));

    /// <summary>The result of one of many payments.</summary>
    public static PaymentResult Of(MakePaymentResponse answer)
    {
        var id = Guid.Parse(answer.TransactionId);
        return answer.Outcome != PaymentOutcome.Failed
            ? Of(id, answer) ?? new PaymentResult.Unknown(id, "", NoOutcome(answer))
            : RejectionOf((StatusCode)answer.Error.StatusCode, answer.Error.Reason, isFirstTry: false) is { } reason
                ? new PaymentResult.Rejected(id, reason, answer.Error.Field, answer.Error.Message)
                : new PaymentResult.Unknown(id, answer.Error.Reason, answer.Error.Message);
    }

    /// <param name="payment">What was asked.</param>
    /// <param name="failure">How the last try ended.</param>
    /// <param name="isFirstTry">Whether that was the only one.</param>
    public static PaymentResult Of(Payment payment, RpcException failure, bool isFirstTry) =>
        RejectionOf(failure.StatusCode, BillingClient.Reason(failure), isFirstTry) is { } reason
            ? new PaymentResult.Rejected(payment.Id, reason, FieldOf(failure), failure.Status.Detail)
            : new PaymentResult.Unknown(payment.Id, BillingClient.Reason(failure), failure.Status.Detail, RetryAfter(failure));

    public static CreditLimitResult Of(CreditLimit limit, SetCreditLimitResponse answer) =>
        new CreditLimitResult.Applied(limit.Id, Amount.Of(answer.Limit), Amount.Of(answer.Balance), answer.Version);

    public static CreditLimitResult Of(CreditLimit limit, RpcException failure, bool isFirstTry) =>
        RejectionOf(failure.StatusCode, BillingClient.Reason(failure), isFirstTry) is { } reason
            ? new CreditLimitResult.Rejected(limit.Id, reason, FieldOf(failure), failure.Status.Detail)
            : new CreditLimitResult.Unknown(limit.Id, BillingClient.Reason(failure), failure.Status.Detail, RetryAfter(failure));

    /// <summary>What a question throws that got no answer.</summary>
    public static BillingException ToException(RpcException failure) =>
        RejectionOf(failure.StatusCode, BillingClient.Reason(failure), isFirstTry: true) is { } reason
            ? new BillingException(reason, FieldOf(failure), failure.Status.Detail, failure)
            : new BillingException(BillingClient.Reason(failure), failure.Status.Detail, RetryAfter(failure), failure);

    /// <summary>gRPC's hint to a retrying client; null where there is none that can be read.</summary>
    public static TimeSpan? RetryAfter(RpcException failure) =>
        int.TryParse(failure.Trailers.GetValue(Trailers.RetryPushback), out var milliseconds) && milliseconds >= 0
            ? TimeSpan.FromMilliseconds(milliseconds)
            : null;

    private static PaymentResult? Of(Guid id, MakePaymentResponse answer) => answer.Outcome switch
    {
        PaymentOutcome.Accepted => new PaymentResult.Accepted(id, Amount.Of(answer.Balance), answer.Version),
        PaymentOutcome.Declined => new PaymentResult.Declined(
            id, answer.DeclineReason, answer.Message, Amount.Of(answer.Balance), answer.Version),
        _ => null,
    };

    // Null where asking again may end otherwise. That a caller may not (any more) says nothing of a try before, which may have been
    // recorded.
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

    private static string FieldOf(RpcException failure) => failure.Trailers.GetValue(Trailers.Field) ?? "";

    // Of a platform newer than this client.
    private static string NoOutcome(MakePaymentResponse answer) => $"The answer's outcome ({(int)answer.Outcome}) is none that is known here.";
}
