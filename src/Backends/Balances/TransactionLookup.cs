using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;

namespace Billing.Backends.Balances;

/// <summary>Finds in the event store what is recorded of requests by their transaction ids, and what has become
/// of their payments.</summary>
internal static class TransactionLookup
{
    /// <summary>Answers a look-up.</summary>
    public static async Task<Reply> AnswerAsync(
        IAccountStore store, Command command, CancellationToken cancellationToken)
    {
        var id = new CommandId(Guid.Parse(command.Lookup.TransactionId), CommandRoute.Of(command).StreamId);
        var recorded = (await store.FindReceiptsAsync([id], [], cancellationToken)).GetValueOrDefault(id);
        if (recorded?.ToStored() is not { } fact)
        {
            return Replies.Error(command.CorrelationId, StatusCode.NotFound, ErrorReasons.TransactionNotFound,
                recorded?.FactCase == Event.FactOneofCase.None
                    ? "Nothing was charged under this transaction_id, and never will be: "
                        + "the payment was reported as failed."
                    : "The account has no record under this transaction_id.");
        }
        var payment = fact is PaymentFollowUp followUp ? new CommandId(followUp.PaymentId, id.StreamId) : id;
        var found = await StoredPayment.FindAsync(store, [payment], cancellationToken);
        return new Reply
        {
            Lookup = new GetTransactionResponse
            {
                Entry = StatementReader.Entry(fact, recorded.Version, withPrincipal: true),
                Payment = found.GetValueOrDefault(payment) is { State: var state } ? Of(payment, state) : null,
            },
        };
    }

    private static PaymentTotals Of(CommandId payment, PaymentState state) => new()
    {
        PaymentId = payment.TransactionId.ToString(),
        Charged = state.Charged.ToMoney(state.Currency),
        Refunded = state.Refunded.ToMoney(state.Currency),
        Held = state.Held.ToMoney(state.Currency),
        ExpireTime = state.ExpiresAt?.ToTimestamp(),
    };
}
