using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Backends.Payments;

/// <summary>A payment on its way through the backend, with every delivery that asks for it.</summary>
public sealed class PendingPayment
{
    private readonly List<Delivery> _deliveries;

    /// <summary>A payment that one delivery asks for so far.</summary>
    public PendingPayment(Delivery delivery)
    {
        _deliveries = [delivery];
        var request = delivery.Command.Payment;
        Payment = new Payment(
            Guid.Parse(request.TransactionId), request.Amount.ToDecimal(), request.Amount.CurrencyCode);
        StreamId = Contracts.StreamId.For(request.PaymentType, request.AccountId);
    }

    /// <summary>The first delivery's payment.</summary>
    public Payment Payment { get; }

    /// <summary>The account's stream.</summary>
    public string StreamId { get; }

    /// <summary>Completes when the payment may be decided: authorised, and every earlier one of its account before it.
    /// </summary>
    public Task Turn { get; set; } = Task.CompletedTask;

    /// <summary>What is recorded for the payment, once something is.</summary>
    public Event? Recorded { get; private set; }

    /// <summary>Why nothing is recorded for it, where that is so.</summary>
    public (StatusCode Status, string Reason, string Message)? Refusal { get; private set; }

    /// <summary>Whether the payment has its result.</summary>
    public bool IsDone => Recorded is not null || Refusal is not null;

    /// <summary>Whether nobody waits for the payment any more.</summary>
    public bool IsExpired(long nowUnixUs)
    {
        lock (_deliveries)
        {
            return _deliveries.TrueForAll(d => d.Command.DeadlineUnixUs is > 0 and var deadline && deadline < nowUnixUs);
        }
    }

    /// <summary>Adds a delivery that asks for the same transaction.</summary>
    public void Join(Delivery delivery)
    {
        lock (_deliveries)
        {
            _deliveries.Add(delivery);
        }
    }

    /// <summary>Ends the payment with what is recorded for it.</summary>
    public void Record(Event recorded) => Recorded = recorded;

    /// <summary>Ends the payment with nothing recorded for it.</summary>
    public void Refuse(StatusCode status, string reason, string message) => Refusal = (status, reason, message);

    /// <summary>The answer to each delivery. Call this when no more can join.</summary>
    public IEnumerable<(Delivery Delivery, Reply Reply)> Answers() => _deliveries.Select(d => (d, Answer(d.Command)));

    private Reply Answer(Command command)
    {
        if (Refusal is var (status, reason, message))
        {
            return Replies.Error(command.CorrelationId, status, reason, message);
        }
        return Asks(command, Recorded!)
            ? new Reply { CorrelationId = command.CorrelationId, Payment = EventStore.RecordedEvent.ToResponse(Recorded!) }
            : Replies.Error(command.CorrelationId, StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused,
                $"transaction_id {command.TransactionId} was used before with another account, payment type or amount.");
    }

    private static bool Asks(Command command, Event recorded) =>
        Contracts.StreamId.For(command.Payment.PaymentType, command.Payment.AccountId) == recorded.StreamId
        && Content(command.Payment.Amount) == Content(EventStore.RecordedEvent.Amount(recorded));

    // Not Money's own equality: that also compares fields which only a newer client knows.
    private static (string, long, int) Content(V1.Money amount) => (amount.CurrencyCode, amount.Units, amount.Nanos);
}
