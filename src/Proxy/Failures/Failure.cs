using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Proxy.Failures;

/// <summary>Why a request was refused or failed. It is a value from where it arises to the edge, where it becomes an answer of gRPC
/// (<see cref="GrpcFailure"/>), of REST (<see cref="RestFailure"/>) or on a stream.</summary>
/// <param name="Status">The gRPC status code.</param>
/// <param name="Reason">One of <see cref="ErrorReasons"/>, for programs.</param>
/// <param name="Message">What happened, for people.</param>
internal sealed record Failure(StatusCode Status, string Reason, string Message)
{
    /// <summary>The path of the invalid field; empty if there is none.</summary>
    public string Field { get; init; } = "";

    /// <summary>How long the caller should wait before a retry; null for no advice.</summary>
    public TimeSpan? RetryAfter { get; init; }

    /// <summary>The failure for an invalid field: INVALID_ARGUMENT, INVALID_FIELD.</summary>
    public static Failure BadField(FieldViolation violation) =>
        new(StatusCode.InvalidArgument, ErrorReasons.InvalidField, violation.ToString()) { Field = violation.Field };

    /// <summary>The failure that a backend answered. Its status is checked, since an OK would make the call succeed without an
    /// answer; an invalid one becomes INTERNAL.</summary>
    public static Failure From(Error error)
    {
        var status = (StatusCode)error.StatusCode;
        return new(status is > StatusCode.OK and <= StatusCode.Unauthenticated ? status : StatusCode.Internal, error.Reason, error.Message)
        {
            Field = error.Field,
        };
    }

    /// <summary>The failure for a backend's answer that is not one to the request.</summary>
    /// <param name="what">What the backend answered.</param>
    public static Failure InvalidAnswer(string what) => new(StatusCode.Internal, ErrorReasons.ProcessingFailed, $"A backend answered {what}.");

    /// <summary>The failure as the answer to a payment on a stream.</summary>
    public PaymentError ToPaymentError() => new() { StatusCode = (int)Status, Reason = Reason, Message = Message, Field = Field };
}

/// <summary>Carries a failure to the edge through code that answers with a value of its own, such as a parser of a request.</summary>
/// <param name="failure">The failure.</param>
internal sealed class FailureException(Failure failure) : Exception(failure.Message)
{
    /// <summary>The failure.</summary>
    public Failure Failure => failure;
}
