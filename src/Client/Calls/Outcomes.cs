using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Converts answers and failures of the wire to the results of the SDK.</summary>
internal static class Outcomes
{
    /// <summary>Returns the result of a payment that was sent over a stream.</summary>
    /// <param name="paymentId">The payment's id.</param>
    /// <param name="answer">The answer.</param>
    /// <param name="isFirstTry">Whether no earlier sending of the payment may have been recorded.</param>
    public static PaymentResult Of(Guid paymentId, MakePaymentsResponse answer, bool isFirstTry) => answer switch
    {
        { Payment: { } payment } => Of(paymentId, payment),
        { Error: { } error } => RejectionOf((StatusCode)error.StatusCode, error.Reason, isFirstTry) is { } reason
            ? new PaymentResult.Rejected(paymentId, reason, error.Field, error.Message)
            : new PaymentResult.Unknown(paymentId, error.Reason, error.Message, error.RetryDelay?.ToTimeSpan()),
        _ => new PaymentResult.Unknown(paymentId, "", UnknownOutcome(PaymentOutcome.Unspecified)),
    };

    /// <summary>Returns the result of a payment that was answered.</summary>
    public static PaymentResult Of(Guid paymentId, MakePaymentResponse answer) => answer.Outcome switch
    {
        PaymentOutcome.Accepted => new PaymentResult.Accepted(paymentId, Amount.Of(answer.Balance), answer.Version),
        PaymentOutcome.Declined => new PaymentResult.Declined(
            paymentId, answer.DeclineReason, answer.Message, Amount.Of(answer.Balance), answer.Version),
        _ => new PaymentResult.Unknown(paymentId, "", UnknownOutcome(answer.Outcome)),
    };

    public static CreditLimitResult Of(Guid id, SetCreditLimitResponse answer) =>
        new CreditLimitResult.Applied(id, Amount.Of(answer.Limit), Amount.Of(answer.Balance), answer.Version);

    public static AccountStatusResult Of(Guid id, SetAccountStatusResponse answer) => new AccountStatusResult.Applied(
        id, answer.AccountStatus, Amount.Of(answer.Balance), Amount.Of(answer.OnHold), answer.Version);

    public static RefundResult Of(Guid id, RefundPaymentResponse answer) =>
        new RefundResult.Refunded(id, Amount.Of(answer.Refunded), Amount.Of(answer.Balance), answer.Version);

    public static HoldResult Of(Guid id, AuthorisePaymentResponse answer) => answer.Outcome switch
    {
        PaymentOutcome.Accepted => new HoldResult.Authorised(
            id, answer.ExpireTime?.ToDateTimeOffset() ?? default, Amount.Of(answer.Balance), Amount.Of(answer.OnHold), answer.Version),
        PaymentOutcome.Declined => new HoldResult.Declined(
            id, answer.DeclineReason, answer.Message, Amount.Of(answer.Balance), answer.Version),
        _ => new HoldResult.Unknown(id, "", UnknownOutcome(answer.Outcome)),
    };

    public static CaptureResult Of(Guid id, CapturePaymentResponse answer) => new CaptureResult.Captured(
        id, Amount.Of(answer.Charged), Amount.Of(answer.Held), Amount.Of(answer.Balance), answer.Version);

    public static HoldVoidResult Of(Guid id, VoidPaymentResponse answer) =>
        new HoldVoidResult.Voided(id, Amount.Of(answer.Released), Amount.Of(answer.Balance), answer.Version);

    /// <summary>Returns the result of a request that failed.</summary>
    /// <param name="id">The id of the request.</param>
    /// <param name="failure">The failure of the last attempt.</param>
    /// <param name="isFirstTry">Whether it was the only attempt.</param>
    /// <param name="rejected">Creates the result if every retry would fail too.</param>
    /// <param name="unknown">Creates the result otherwise.</param>
    public static T Of<T>(Guid id, RpcException failure, bool isFirstTry, Rejection<T> rejected, Uncertainty<T> unknown) =>
        RejectionOf(failure, isFirstTry) is { } reason
            ? rejected(id, reason, ProxyFailure.Field(failure), failure.Status.Detail)
            : unknown(id, ProxyFailure.Reason(failure), failure.Status.Detail, ProxyFailure.RetryAfter(failure));

    /// <summary>Returns the exception for a failed query.</summary>
    public static BillingException ToException(RpcException failure) =>
        RejectionOf(failure, isFirstTry: true) is { } reason
            ? new BillingException(reason, ProxyFailure.Field(failure), failure.Status.Detail, failure)
            : new BillingException(ProxyFailure.Reason(failure), failure.Status.Detail, ProxyFailure.RetryAfter(failure), failure);

    /// <summary>Returns the status of the unanswered payments of a stream that failed. A stream that is invalid says nothing of them: one
    /// request may be, and the others may have been recorded.</summary>
    public static StatusCode OfPayments(RpcException streamFailure) =>
        IsRefusal(streamFailure) || RejectionOf(streamFailure, isFirstTry: true) is null ? streamFailure.StatusCode : StatusCode.Unknown;

    /// <summary>Returns whether an attempt failed because of its caller or its method: nothing that was sent with it was processed.
    /// </summary>
    public static bool IsRefusal(RpcException failure) =>
        failure.StatusCode is StatusCode.Unauthenticated or StatusCode.PermissionDenied or StatusCode.Unimplemented;

    // Of a platform that is newer than this client.
    private static string UnknownOutcome(PaymentOutcome outcome) => $"The answer has an unknown outcome ({(int)outcome}).";

    private static RejectionReason? RejectionOf(RpcException failure, bool isFirstTry) =>
        RejectionOf(failure.StatusCode, ProxyFailure.Reason(failure), isFirstTry);

    // Null if a retry may have another outcome. That the caller has no permission now says nothing about earlier attempts, which
    // may have been recorded.
    private static RejectionReason? RejectionOf(StatusCode status, string reason, bool isFirstTry) => status switch
    {
        StatusCode.InvalidArgument => RejectionReason.InvalidField,
        StatusCode.AlreadyExists => RejectionReason.IdReused,
        StatusCode.FailedPrecondition when reason == ErrorReasons.CurrencyMismatch => RejectionReason.CurrencyMismatch,
        StatusCode.FailedPrecondition when reason == ErrorReasons.PaymentDeclined => RejectionReason.PaymentDeclined,
        StatusCode.FailedPrecondition when reason == ErrorReasons.AmountTooLarge => RejectionReason.AmountTooLarge,
        StatusCode.FailedPrecondition when reason == ErrorReasons.NotOnHold => RejectionReason.NotOnHold,
        StatusCode.FailedPrecondition when reason == ErrorReasons.AccountNotEmpty => RejectionReason.AccountNotEmpty,
        StatusCode.NotFound when reason is ErrorReasons.PaymentNotFound => RejectionReason.PaymentNotFound,
        StatusCode.OutOfRange when reason == ErrorReasons.VersionNotReached => RejectionReason.VersionNotReached,
        StatusCode.FailedPrecondition or StatusCode.OutOfRange or StatusCode.NotFound => RejectionReason.Other,
        StatusCode.Unauthenticated when isFirstTry => RejectionReason.NotAuthenticated,
        StatusCode.PermissionDenied when isFirstTry => RejectionReason.NotAllowed,
        StatusCode.Unimplemented when isFirstTry => RejectionReason.Other,
        _ => null,
    };
}

/// <summary>Creates the result of a request that is rejected.</summary>
internal delegate T Rejection<out T>(Guid id, RejectionReason reason, string field, string message);

/// <summary>Creates the result of a request of which the client does not know whether it was recorded.</summary>
internal delegate T Uncertainty<out T>(Guid id, string reason, string message, TimeSpan? retryAfter);
