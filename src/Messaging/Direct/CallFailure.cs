using Billing.Contracts;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Messaging.Direct;

/// <summary>What callers are told of a call to a backend that brought no reply.</summary>
internal static class CallFailure
{
    /// <summary>The backend cannot be reached, or its connection broke.</summary>
    public static Reply Away(string address, string why) => Replies.Error(
        0, StatusCode.Unavailable, ErrorReasons.BackendUnavailable,
        $"The backend at {address}, which serves this account, is away: {why}");

    /// <summary>The deadline came first.</summary>
    public static Reply Late() => Replies.NoAnswerInTime(0);

    /// <summary>The backend answered with something that is no reply.</summary>
    public static Reply NoReply(StatusCode status, string address, string what) => Replies.Error(
        0, status, ErrorReasons.ProcessingFailed, $"The backend at {address} gave no reply: {what}");
}
