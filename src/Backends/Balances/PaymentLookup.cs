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
        var receipts = await store.FindReceiptsAsync([id], cancellationToken);
        if ((await StoredPayment.FollowUpAsync(store, receipts, cancellationToken)).GetValueOrDefault(id) is not { } payment)
        {
            return Replies.Error(command.CorrelationId, StatusCode.NotFound, ErrorReasons.PaymentNotFound,
                receipts.GetValueOrDefault(id)?.FactCase == Event.FactOneofCase.None
                    ? "Nothing was charged under this transaction_id, and never will be: the payment was reported as failed."
                    : "The account has no recorded payment under this transaction_id.");
        }
        var response = PaymentWrite.ToResponse(payment.Recorded);
        return new Reply
        {
            Lookup = new RecordedPayment
            {
                TransactionId = response.TransactionId,
                Outcome = response.Outcome,
                DeclineReason = response.DeclineReason,
                Amount = PaymentWrite.AmountOf(payment.Recorded),
                Refunded = payment.State.Refunded.ToMoney(payment.State.Currency),
                Balance = response.Balance,
                DecidedAt = UnixTime.FromMicroseconds(payment.Recorded.DecidedUnixUs).ToTimestamp(),
                Version = response.Version,
            },
        };
    }
}
