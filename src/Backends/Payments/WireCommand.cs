using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;

namespace Billing.Backends.Payments;

/// <summary>What the wire contract asks of the write side, as the domain understands it, and the domain's answers as the
/// wire contract states them.</summary>
internal static class WireCommand
{
    /// <summary>The domain's command; for a question about a payment, that payment.</summary>
    /// <param name="command">The command.</param>
    /// <param name="traceId">The trace that it is part of; null where it is not traced.</param>
    /// <exception cref="ArgumentException">The command changes no account.</exception>
    public static AccountCommand ToDomain(Command command, string? traceId) => command.RequestCase switch
    {
        Command.RequestOneofCase.Payment or Command.RequestOneofCase.PaymentStatus => new Payment(
            Guid.Parse(command.TransactionId), AskedFor(command).Amount.ToDecimal(), AskedFor(command).Amount.CurrencyCode,
            Times(command), traceId),
        Command.RequestOneofCase.CreditLimit => new CreditLimitChange(
            Guid.Parse(command.TransactionId), command.CreditLimit.Limit.ToDecimal(), command.CreditLimit.Limit.CurrencyCode,
            traceId),
        _ => throw new ArgumentException($"A {command.RequestCase} changes no account.", nameof(command)),
    };

    /// <summary>Whether a command asks what became of a payment, and is none itself.</summary>
    public static bool IsQuestion(Command command) => command.RequestCase == Command.RequestOneofCase.PaymentStatus;

    /// <summary>Whether an event is the answer to just this request.</summary>
    public static bool Asks(Command command, Event recorded)
    {
        var isPayment = command.RequestCase is Command.RequestOneofCase.Payment or Command.RequestOneofCase.PaymentStatus;
        if (isPayment != recorded.FactCase is Event.FactOneofCase.PaymentAccepted or Event.FactOneofCase.PaymentDeclined
            || CommandRoute.Of(command).StreamId != recorded.StreamId)
        {
            return false;
        }
        return isPayment
            ? Content(AskedFor(command).Amount) == Content(recorded.Amount())
            : Content(command.CreditLimit.Limit) == Content(recorded.CreditLimitChanged.Limit);
    }

    /// <summary>The answer that an event gives to a request.</summary>
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

    /// <summary>The answer to a request for which nothing is recorded; to a question about a payment, why that is so.</summary>
    public static Reply ToReply(Command command, Error refusal) => IsQuestion(command)
        ? new Reply { CorrelationId = command.CorrelationId, PaymentStatus = new PaymentStatus { Error = refusal } }
        : new Reply { CorrelationId = command.CorrelationId, Error = refusal };

    private static V1.MakePaymentRequest AskedFor(Command command) => command.Payment ?? command.PaymentStatus.Payment;

    private static RequestTimes? Times(Command command) => command.Timing is not { } timing ? null : new(
        UnixTime.FromMicroseconds(timing.SentUnixUs), UnixTime.FromMicroseconds(command.ReceivedUnixUs),
        UnixTime.FromMicroseconds(timing.ConsumedUnixUs));

    // Not Money's own equality: that also compares fields which only a newer client knows.
    private static (string, long, int) Content(V1.Money amount) => (amount.CurrencyCode, amount.Units, amount.Nanos);
}
