using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;

namespace Billing.Proxy.Failures;

/// <summary>Why a request was refused or failed. It is a value from where it arises to the edge, where it becomes an
/// answer of gRPC (<see cref="GrpcFailure"/>), of REST (<see cref="RestFailure"/>) or on a stream.</summary>
internal sealed record Failure(StatusCode Status, string Reason, string Message)
{
    private const int WordLengthMax = 200;

    /// <summary>The path of the invalid field; empty if there is none.</summary>
    public string Field { get; init; } = "";

    /// <summary>How long the caller should wait before a retry; null for no advice.</summary>
    public TimeSpan? RetryAfter { get; init; }

    public static Failure BadField(FieldViolation violation) =>
        new(StatusCode.InvalidArgument, ErrorReasons.InvalidField, violation.ToString()) { Field = violation.Field };

    /// <summary>The failure that a backend answered. Its status is checked, since an OK would make the call
    /// succeed without an answer; an invalid one becomes INTERNAL. Its reason and field are short words;
    /// others are dropped.</summary>
    public static Failure From(Error error)
    {
        var status = (StatusCode)error.StatusCode;
        return new(
            status is > StatusCode.OK and <= StatusCode.Unauthenticated ? status : StatusCode.Internal,
            IsWord(error.Reason) ? error.Reason : ErrorReasons.ProcessingFailed, error.Message)
        {
            Field = IsWord(error.Field) ? error.Field : "",
        };
    }

    private static bool IsWord(string text) =>
        text.Length is > 0 and <= WordLengthMax && !text.AsSpan().ContainsAnyExceptInRange('!', '~');

    /// <summary>The failure for a backend's answer that is not one to the request;
    /// <paramref name="what"/> completes the sentence.</summary>
    public static Failure InvalidAnswer(string what) =>
        new(StatusCode.Internal, ErrorReasons.ProcessingFailed, $"A backend answered {what}.");

    /// <summary>The failure of a request for which there is no memory.</summary>
    /// <param name="holder">Who has too much of it already.</param>
    /// <param name="things">What that is.</param>
    public static Failure OutOfMemory(string holder, string things) => new(
        StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached,
        $"The {holder} has as many {things} as the proxy's memory allows.")
    { RetryAfter = TimeSpan.FromSeconds(1) };

    /// <summary>The failure as the answer to a payment of a stream.</summary>
    public PaymentError ToPaymentError() => new()
    {
        StatusCode = (int)Status,
        Reason = Reason,
        Message = Message,
        Field = Field,
        RetryDelay = RetryAfter is { } wait ? Duration.FromTimeSpan(wait) : null,
    };
}

/// <summary>Carries a failure to the edge through code that answers with a value of its own, such as a
/// parser of a request.</summary>
internal sealed class FailureException(Failure failure) : Exception(failure.Message)
{
    public Failure Failure => failure;
}

/// <summary>A value, or the failure that there is instead.</summary>
internal readonly struct Outcome<T>
    where T : class
{
    private readonly T? _value;

    private Outcome(T? value, Failure? failure) => (_value, Failure) = (value, failure);

    public Failure? Failure { get; }

    /// <exception cref="FailureException">There is none.</exception>
    public T Value => _value ?? throw new FailureException(Failure!);

    public static implicit operator Outcome<T>(T value) => new(value, null);

    public static implicit operator Outcome<T>(Failure failure) => new(null, failure);
}
