using System.Text.Json.Serialization;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using PaymentRefunded = Billing.Backends.Domain.PaymentRefunded;

namespace Billing.Backends.Writes;

/// <summary>A refund of a payment.</summary>
internal sealed class RefundWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.Refund;

    public override bool NeedsAuthorisation => true;

    public override IReadOnlyList<EventKind> Events { get; } =
    [
        new EventKind<PaymentRefunded>(RefundJson.Default.PaymentRefunded)
        {
            Name = "payment_refunded_v1",
            Outcome = "refunded",
            Field = Event.FactOneofCase.PaymentRefunded,
            EntryType = StatementEntryType.PaymentRefunded,
            ToWire = (fact, recorded) => recorded.PaymentRefunded = new()
            {
                PaymentId = fact.PaymentId.ToString(),
                Amount = fact.Amount.ToMoney(fact.Currency),
                Charged = fact.Charged.ToMoney(fact.Currency),
                Refunded = fact.Refunded.ToMoney(fact.Currency),
                Held = fact.Held.ToMoney(fact.Currency),
            },
            ToDomain = (recorded, common) =>
                recorded.PaymentRefunded is
                {
                    Amount: { } amount, Charged: { } charged, Refunded: { } refunded, Held: { } held
                } fact
                && Guid.TryParse(fact.PaymentId, out var paymentId)
                    ? new PaymentRefunded(
                        common.TransactionId, paymentId, amount.ToDecimal(), amount.CurrencyCode, common.DecidedAt)
                    {
                        Balance = common.Balance,
                        Charged = charged.ToDecimal(),
                        Refunded = refunded.ToDecimal(),
                        Held = held.ToDecimal(),
                    }
                    : null,
            ToEntry = (fact, entry) =>
            {
                entry.Amount = fact.Amount.ToMoney(fact.Currency);
                entry.PaymentId = fact.PaymentId.ToString();
            },
        },
    ];

    public override PaymentNotes? NotesOf(Command command) => command.Refund.Notes;

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) => new Refund(
        Guid.Parse(command.TransactionId), Guid.Parse(command.Refund.PaymentId),
        command.Refund.Amount.ToDecimal(), command.Refund.Amount.CurrencyCode, traceId);

    protected override bool AsksFor(Command command, Event recorded) =>
        recorded.PaymentRefunded is { } refunded && AreSame(command.Refund.Amount, refunded.Amount)
        && Guid.Parse(command.Refund.PaymentId) == Guid.Parse(refunded.PaymentId);

    public override void Answer(Reply reply, Event recorded, bool isReplay) => reply.Refund = new RefundPaymentResponse
    {
        TransactionId = recorded.TransactionId,
        PaymentId = recorded.PaymentRefunded.PaymentId,
        Amount = recorded.PaymentRefunded.Amount,
        Refunded = recorded.PaymentRefunded.Refunded,
        Balance = recorded.Balance,
        OnHold = OnHold(recorded),
        DecideTime = DecideTime(recorded),
        Version = recorded.Version,
        Replayed = isReplay,
    };
}

/// <summary>Serialises the event without reflection. Optional fields without a value are left out.</summary>
[JsonSourceGenerationOptions(
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull, Converters = [typeof(PlainDecimals)])]
[JsonSerializable(typeof(PaymentRefunded))]
internal sealed partial class RefundJson : JsonSerializerContext;
