using Billing.Backends.EventStore;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;

namespace Billing.Backends.Balances;

/// <summary>Finds payments in the event store by their transaction ids.</summary>
internal static class PaymentLookup
{
    /// <summary>Answers a look-up.</summary>
    public static async Task<Reply> AnswerAsync(IAccountStore store, Command command, CancellationToken cancellationToken)
    {
        var id = new CommandId(Guid.Parse(command.Lookup.TransactionId), CommandRoute.Of(command).StreamId);
        var found = (await store.FindReceiptsAsync([id], cancellationToken)).GetValueOrDefault(id);
        if (found is null || PaymentWrite.AmountOf(found) is not { } amount)
        {
            return Replies.Error(command.CorrelationId, StatusCode.NotFound, ErrorReasons.PaymentNotFound,
                found?.FactCase == Event.FactOneofCase.None
                    ? "Nothing was charged under this transaction_id, and never will be: the payment was reported as failed."
                    : "The account has no recorded payment under this transaction_id.");
        }
        var response = PaymentWrite.ToResponse(found);
        return new Reply
        {
            Lookup = new RecordedPayment
            {
                TransactionId = response.TransactionId,
                Outcome = response.Outcome,
                DeclineReason = response.DeclineReason,
                Amount = amount,
                Balance = response.Balance,
                DecidedAt = UnixTime.FromMicroseconds(found.DecidedUnixUs).ToTimestamp(),
                Version = response.Version,
            },
        };
    }
}
