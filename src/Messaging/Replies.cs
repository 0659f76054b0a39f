using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Messaging;

/// <summary>Replies that carry an error.</summary>
public static class Replies
{
    /// <summary>An error reply.</summary>
    /// <param name="correlationId">The command's correlation id.</param>
    /// <param name="status">What the proxy answers.</param>
    /// <param name="reason">One of <see cref="Contracts.ErrorReasons"/>.</param>
    /// <param name="message">What happened, for a person.</param>
    /// <param name="field">The path of the request field at fault, if one is.</param>
    public static Reply Error(ulong correlationId, StatusCode status, string reason, string message, string field = "") => new()
    {
        CorrelationId = correlationId,
        Error = new Error { StatusCode = (int)status, Reason = reason, Message = message, Field = field },
    };

    /// <summary>The reply of a proxy to a command that no backend answered before its deadline.</summary>
    /// <param name="correlationId">The command's correlation id.</param>
    public static Reply NoAnswerInTime(ulong correlationId) => Error(
        correlationId, StatusCode.DeadlineExceeded, Contracts.ErrorReasons.NoAnswerInTime,
        "No backend answered before the deadline. The payment may or may not be recorded: ask again with the same transaction_id.");

    /// <summary>The reply to a command that only reads, where the event store is away: nothing is lost by asking again.
    /// </summary>
    /// <param name="correlationId">The command's correlation id.</param>
    public static Reply StoreUnreadable(ulong correlationId) => Error(
        correlationId, StatusCode.Unavailable, Contracts.ErrorReasons.EventStoreUnavailable,
        "The event store cannot be read at the moment.");
}
