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
    /// <summary>The domain's command.</summary>
    /// <exception cref="ArgumentException">The command changes no account.</exception>
    public static AccountCommand ToDomain(Command command) => command.RequestCase switch
    {
        Command.RequestOneofCase.Payment => new Payment(
            Guid.Parse(command.TransactionId), command.Payment.Amount.ToDecimal(), command.Payment.Amount.CurrencyCode,
            Times(command)),
        Command.RequestOneofCase.CreditLimit => new CreditLimitChange(
            Guid.Parse(command.TransactionId), command.CreditLimit.Limit.ToDecimal(), command.CreditLimit.Limit.CurrencyCode),
        _ => throw new ArgumentException($"A {command.RequestCase} changes no account.", nameof(command)),
    };

    /// <summary>Whether an event is the answer to just this request.</summary>
    public static bool Asks(Command command, Event recorded)
    {
        var isPayment = command.RequestCase == Command.RequestOneofCase.Payment;
        if (isPayment != recorded.FactCase is Event.FactOneofCase.PaymentAccepted or Event.FactOneofCase.PaymentDeclined
            || CommandRoute.Of(command).StreamId != recorded.StreamId)
        {
            return false;
        }
        return isPayment
            ? Content(command.Payment.Amount) == Content(recorded.Amount())
            : Content(command.CreditLimit.Limit) == Content(recorded.CreditLimitChanged.Limit);
    }

    /// <summary>The answer that an event gives to a request.</summary>
    public static Reply ToReply(Command command, Event recorded)
    {
        var reply = new Reply { CorrelationId = command.CorrelationId };
        if (command.RequestCase == Command.RequestOneofCase.Payment)
        {
            reply.Payment = recorded.ToResponse();
        }
        else
        {
            reply.CreditLimit = recorded.ToLimitResponse();
        }
        return reply;
    }

    private static RequestTimes? Times(Command command) => command.Timing is not { } timing ? null : new(
        UnixTime.FromMicroseconds(timing.SentUnixUs), UnixTime.FromMicroseconds(command.ReceivedUnixUs),
        UnixTime.FromMicroseconds(timing.ConsumedUnixUs));

    // Not Money's own equality: that also compares fields which only a newer client knows.
    private static (string, long, int) Content(V1.Money amount) => (amount.CurrencyCode, amount.Units, amount.Nanos);
}
