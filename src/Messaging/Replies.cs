using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Messaging;

/// <summary>Creates replies that contain an error.</summary>
public static class Replies
{
    /// <summary>Creates an error reply.</summary>
    /// <param name="correlationId">The command's correlation id.</param>
    /// <param name="status">The gRPC status that the proxy returns.</param>
    /// <param name="reason">One of <see cref="Contracts.ErrorReasons"/>.</param>
    /// <param name="message">The error message, as text for people.</param>
    /// <param name="field">The path of the invalid request field; empty if there is none.</param>
    public static Reply Error(
        ulong correlationId, StatusCode status, string reason, string message, string field = "") => new()
        {
            CorrelationId = correlationId,
            Error = new Error { StatusCode = (int)status, Reason = reason, Message = message, Field = field },
        };

    /// <summary>Creates the proxy's reply to a command that no backend answered before its deadline.</summary>
    public static Reply NoAnswerInTime(ulong correlationId) => Error(
        correlationId, StatusCode.DeadlineExceeded, Contracts.ErrorReasons.NoAnswerInTime,
        "No backend answered before the deadline. A payment may or may not be recorded: "
            + "retry with the same transaction_id.");

    /// <summary>Creates the reply to a query while the event store is unavailable;
    /// the query can safely be retried.</summary>
    public static Reply StoreUnavailable(ulong correlationId) => Error(
        correlationId, StatusCode.Unavailable, Contracts.ErrorReasons.EventStoreUnavailable,
        "The event store cannot be read at the moment.");
}
