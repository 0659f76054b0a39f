using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Wire.V1;

namespace Billing.Backends.Payments;

/// <summary>Converts commands of the wire contract to domain commands, and results to replies of the wire contract.</summary>
internal static class WireCommand
{
    /// <summary>The domain command of a delivery; for a question about a payment, that payment.</summary>
    /// <exception cref="ArgumentException">The command changes no account.</exception>
    public static AccountCommand ToDomain(Delivery delivery)
    {
        var (command, traceId) = (delivery.Command, delivery.Processing?.TraceId.ToHexString());
        return command.RequestCase switch
        {
            Command.RequestOneofCase.Payment or Command.RequestOneofCase.PaymentStatus => new Payment(
                Guid.Parse(command.TransactionId), PaymentOf(command).Amount.ToDecimal(), PaymentOf(command).Amount.CurrencyCode,
                Times(delivery), traceId),
            Command.RequestOneofCase.CreditLimit => new CreditLimitChange(
                Guid.Parse(command.TransactionId), command.CreditLimit.Limit.ToDecimal(), command.CreditLimit.Limit.CurrencyCode,
                traceId),
            _ => throw new ArgumentException($"A {command.RequestCase} changes no account.", nameof(delivery)),
        };
    }

    /// <summary>Whether a command only asks for the result of a payment.</summary>
    public static bool IsStatusQuery(Command command) => command.RequestCase == Command.RequestOneofCase.PaymentStatus;

    /// <summary>Whether an event answers exactly this request: same kind, account and amount.</summary>
    public static bool IsAnsweredBy(Command command, Event recorded)
    {
        var isPayment = command.RequestCase is Command.RequestOneofCase.Payment or Command.RequestOneofCase.PaymentStatus;
        if (isPayment != recorded.FactCase is Event.FactOneofCase.PaymentAccepted or Event.FactOneofCase.PaymentDeclined
            || CommandRoute.Of(command).StreamId != recorded.StreamId)
        {
            return false;
        }
        return isPayment
            ? Content(PaymentOf(command).Amount) == Content(recorded.Amount())
            : Content(command.CreditLimit.Limit) == Content(recorded.CreditLimitChanged.Limit);
    }

    /// <summary>The reply to a request from the event recorded for it.</summary>
    public static Reply ToReply(Command command, Event recorded)
    {
        var reply = new Reply { CorrelationId = command.CorrelationId };
        switch (command.RequestCase)
        {
            case Command.RequestOneofCase.Payment:
                reply.Payment = recorded.ToResponse();
                break;
            case Command.RequestOneofCase.PaymentStatus:
                reply.PaymentStatus = new PaymentStatus { Payment = recorded.ToResponse() };
                break;
            default:
                reply.CreditLimit = recorded.ToLimitResponse();
                break;
        }
        return reply;
    }

    /// <summary>The reply to a request for which no event is recorded; a question about a payment is answered with the reason, once
    /// it is certain that there will be none.</summary>
    public static Reply ToReply(Command command, Error refusal) => IsStatusQuery(command) && refusal.Reason != ErrorReasons.NoAnswerInTime
        ? new Reply { CorrelationId = command.CorrelationId, PaymentStatus = new PaymentStatus { Error = refusal } }
        : new Reply { CorrelationId = command.CorrelationId, Error = refusal };

    private static V1.MakePaymentRequest PaymentOf(Command command) => command.Payment ?? command.PaymentStatus.Payment;

    private static RequestTimes? Times(Delivery delivery) => delivery.Command is not { Timing: { } timing } command ? null : new(
        UnixTime.FromMicroseconds(timing.SentUnixUs), UnixTime.FromMicroseconds(command.ReceivedUnixUs),
        UnixTime.FromMicroseconds(delivery.ConsumedUnixUs));

    // Not Money's own equality, which also compares unknown fields sent by a newer client.
    private static (string, long, int) Content(V1.Money amount) => (amount.CurrencyCode, amount.Units, amount.Nanos);
}
