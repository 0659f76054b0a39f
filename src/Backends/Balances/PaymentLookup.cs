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
        var receipts = await store.FindReceiptsAsync([id], [], cancellationToken);
        if ((await StoredPayment.FollowUpAsync(store, receipts, cancellationToken)).GetValueOrDefault(id) is not { } payment)
        {
            return Replies.Error(command.CorrelationId, StatusCode.NotFound, ErrorReasons.PaymentNotFound,
                receipts.GetValueOrDefault(id)?.FactCase == Event.FactOneofCase.None
                    ? "Nothing was charged under this transaction_id, and never will be: the payment was reported as failed."
                    : "The account has no recorded payment under this transaction_id.");
        }
        return new Reply { Lookup = Found(payment) };
    }

    private static GetPaymentResponse Found(StoredPayment payment)
    {
        var (recorded, state) = payment;
        return new GetPaymentResponse
        {
            TransactionId = recorded.TransactionId,
            Outcome = state.IsDeclined ? PaymentOutcome.Declined : PaymentOutcome.Accepted,
            DeclineReason = recorded.PaymentDeclined?.Reason ?? recorded.AuthorisationDeclined?.Reason ?? DeclineReason.Unspecified,
            Amount = recorded.PaymentAuthorised?.Amount ?? recorded.AuthorisationDeclined?.Amount ?? PaymentWrite.AmountOf(recorded),
            Charged = state.Charged.ToMoney(state.Currency),
            Refunded = state.Refunded.ToMoney(state.Currency),
            Held = state.Held.ToMoney(state.Currency),
            ExpireTime = state.ExpiresAt?.ToTimestamp(),
            Balance = recorded.Balance,
            DecideTime = UnixTime.FromMicroseconds(recorded.DecidedUnixUs).ToTimestamp(),
            Version = recorded.Version,
            Notes = recorded.Notes,
        };
    }
}
