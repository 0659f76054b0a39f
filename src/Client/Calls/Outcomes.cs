using Billing.Contracts;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Converts answers and failures of the wire to the results of the SDK.</summary>
internal static class Outcomes
{
    /// <summary>Returns the outcome of a payment that was sent over a stream.</summary>
    /// <param name="id">The payment's id.</param>
    /// <param name="answer">The answer.</param>
    /// <param name="isFirstTry">Whether no earlier sending of the payment may have been recorded.</param>
    public static Outcome<PaymentAnswer> Of(Guid id, MakePaymentsResponse answer, bool isFirstTry) => answer switch
    {
        { Payment: { } payment } => Of(id, payment),
        { Error: { } error } => RejectionOf((StatusCode)error.StatusCode, error.Reason, isFirstTry) is { } reason
            ? new(id, rejected: new Rejection { Reason = reason, Field = error.Field, Message = error.Message })
            : new(id, unknown: new Uncertainty
            {
                Reason = error.Reason,
                Message = ProxyFailure.Message((StatusCode)error.StatusCode, error.Message),
                RetryAfter = error.RetryDelay?.ToTimeSpan(),
            }),
        _ => UnknownOutcome<PaymentAnswer>(id, PaymentOutcome.Unspecified),
    };

    public static Outcome<PaymentAnswer> Of(Guid id, MakePaymentResponse answer) => answer.Outcome switch
    {
        PaymentOutcome.Accepted => new(id, new PaymentAnswer
        {
            Balance = Amount.Of(answer.Balance),
            OnHold = Amount.Of(answer.OnHold),
            DecidedAt = TimeOf(answer.DecideTime),
            Version = answer.Version,
            IsReplay = answer.Replayed,
        }),
        PaymentOutcome.Declined => new(id, declined: new Decline
        {
            Reason = (DeclineReason)answer.DeclineReason,
            Message = answer.Message,
            Balance = Amount.Of(answer.Balance),
            OnHold = Amount.Of(answer.OnHold),
            DecidedAt = TimeOf(answer.DecideTime),
            Version = answer.Version,
            IsReplay = answer.Replayed,
        }),
        _ => UnknownOutcome<PaymentAnswer>(id, answer.Outcome),
    };

    public static Outcome<HoldAnswer> Of(Guid id, AuthorisePaymentResponse answer) => answer.Outcome switch
    {
        PaymentOutcome.Accepted => new(id, new HoldAnswer
        {
            ExpiresAt = TimeOf(answer.ExpireTime),
            Balance = Amount.Of(answer.Balance),
            OnHold = Amount.Of(answer.OnHold),
            DecidedAt = TimeOf(answer.DecideTime),
            Version = answer.Version,
            IsReplay = answer.Replayed,
        }),
        PaymentOutcome.Declined => new(id, declined: new Decline
        {
            Reason = (DeclineReason)answer.DeclineReason,
            Message = answer.Message,
            Balance = Amount.Of(answer.Balance),
            OnHold = Amount.Of(answer.OnHold),
            DecidedAt = TimeOf(answer.DecideTime),
            Version = answer.Version,
            IsReplay = answer.Replayed,
        }),
        _ => UnknownOutcome<HoldAnswer>(id, answer.Outcome),
    };

    /// <summary>Returns the outcome of a request that failed.</summary>
    /// <param name="id">The id of the request.</param>
    /// <param name="failure">Its failure.</param>
    public static Outcome<T> Of<T>(Guid id, RpcException failure)
        where T : Answer => RejectionOf(failure, ProxyFailure.IsOfFirstTry(failure)) is { } reason
        ? new(id, rejected: new Rejection
        {
            Reason = reason,
            Field = ProxyFailure.Field(failure),
            Message = failure.Status.Detail,
        })
        : new(id, unknown: new Uncertainty
        {
            Reason = ProxyFailure.Reason(failure),
            Message = ProxyFailure.Message(failure),
            RetryAfter = ProxyFailure.RetryAfter(failure),
        });

    /// <summary>Returns the exception for a failed query.</summary>
    public static BillingException ToException(RpcException failure) =>
        RejectionOf(failure, isFirstTry: true) is { } reason
            ? new BillingException(
                reason, ProxyFailure.Reason(failure), ProxyFailure.Field(failure), failure.Status.Detail, failure)
            : new BillingException(
                ProxyFailure.Reason(failure), ProxyFailure.Message(failure), ProxyFailure.RetryAfter(failure), failure);

    /// <summary>Returns the status of the unanswered payments of a stream that failed. A stream that is invalid says
    /// nothing of them: one request may be, and the others may have been recorded.</summary>
    public static StatusCode OfPayments(RpcException streamFailure) =>
        IsRefusal(streamFailure) || !IsOfRequest(streamFailure) ? streamFailure.StatusCode : StatusCode.Unknown;

    /// <summary>Returns whether every retry of a call would fail too.</summary>
    public static bool IsRejection(RpcException failure) =>
        RejectionOf(failure, ProxyFailure.IsOfFirstTry(failure)) is not null;

    /// <summary>Returns whether an attempt failed because of what it requests or who requests it:
    /// its message may tell of either.</summary>
    public static bool IsOfRequest(RpcException failure) => RejectionOf(failure, isFirstTry: true) is not null;

    /// <summary>Returns whether an attempt failed because of its caller or its method:
    /// nothing that was sent with it was processed.</summary>
    public static bool IsRefusal(RpcException failure) =>
        failure.StatusCode is StatusCode.Unauthenticated or StatusCode.PermissionDenied or StatusCode.Unimplemented;

    /// <summary>Returns a time of the wire; the earliest there is for none.</summary>
    public static DateTimeOffset TimeOf(Timestamp? time) => time?.ToDateTimeOffset() ?? default;

    // Of a platform that is newer than this client.
    private static Outcome<T> UnknownOutcome<T>(Guid id, PaymentOutcome outcome)
        where T : Answer =>
            new(id, unknown: new Uncertainty { Message = $"The answer has an unknown outcome ({(int)outcome})." });

    private static RejectionReason? RejectionOf(RpcException failure, bool isFirstTry) =>
        RejectionOf(failure.StatusCode, ProxyFailure.Reason(failure), isFirstTry);

    // Null if a retry may have another outcome. A refusal because of the caller, or of what the account is like now,
    // says nothing about earlier attempts, which may have been recorded or still be on their way.
    private static RejectionReason? RejectionOf(StatusCode status, string reason, bool isFirstTry) =>
        isFirstTry || IsForGood(status, reason) ? RejectionOf(status, reason) : null;

    private static bool IsForGood(StatusCode status, string reason) =>
        status is StatusCode.InvalidArgument or StatusCode.AlreadyExists
            ? reason is not ErrorReasons.HostNotAllowed
            : reason is ErrorReasons.CurrencyMismatch or ErrorReasons.PaymentDeclined or ErrorReasons.NotOnHold
                or ErrorReasons.VersionNotReached;

    private static RejectionReason? RejectionOf(StatusCode status, string reason) => status switch
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
        StatusCode.Unauthenticated => RejectionReason.NotAuthenticated,
        StatusCode.PermissionDenied => RejectionReason.NotAllowed,
        StatusCode.FailedPrecondition or StatusCode.OutOfRange or StatusCode.NotFound or StatusCode.Unimplemented =>
            RejectionReason.Other,
        _ => null,
    };
}
