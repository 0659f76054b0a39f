using System.Text.Json.Serialization;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using PaymentCaptured = Billing.Backends.Domain.PaymentCaptured;

namespace Billing.Backends.Writes;

/// <summary>A capture of what is on hold.</summary>
internal sealed class CaptureWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.Capture;

    public override bool NeedsAuthorisation => true;

    public override IReadOnlyList<EventKind> Events { get; } =
    [
        new EventKind<PaymentCaptured>(CaptureJson.Default.PaymentCaptured)
        {
            Name = "payment_captured_v1",
            Outcome = "captured",
            Field = Event.FactOneofCase.PaymentCaptured,
            EntryType = StatementEntryType.PaymentCaptured,
            ToWire = (fact, recorded) => recorded.PaymentCaptured = new()
            {
                PaymentId = fact.PaymentId.ToString(),
                Amount = fact.Amount.ToMoney(fact.Currency),
                Released = fact.Released.ToMoney(fact.Currency),
                Charged = fact.Charged.ToMoney(fact.Currency),
                Refunded = fact.Refunded.ToMoney(fact.Currency),
                Held = fact.Held.ToMoney(fact.Currency),
            },
            ToDomain = (recorded, common) =>
                recorded.PaymentCaptured is
                {
                    Amount: { } amount, Released: { } released,
                    Charged: { } charged, Refunded: { } refunded, Held: { } held
                } fact
                && Guid.TryParse(fact.PaymentId, out var paymentId)
                    ? new PaymentCaptured(
                        common.TransactionId, paymentId, amount.ToDecimal(), released.ToDecimal(), amount.CurrencyCode,
                        common.DecidedAt)
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

    public override PaymentNotes? NotesOf(Command command) => command.Capture.Notes;

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) => new Capture(
        Guid.Parse(command.TransactionId), Guid.Parse(command.Capture.PaymentId),
        command.Capture.Amount.ToDecimal(), command.Capture.Amount.CurrencyCode, command.Capture.IsFinal, traceId);

    // After a last capture nothing is held; after another one nothing is released.
    protected override bool AsksFor(Command command, Event recorded) =>
        recorded.PaymentCaptured is { } captured && AreSame(command.Capture.Amount, captured.Amount)
        && Guid.Parse(command.Capture.PaymentId) == Guid.Parse(captured.PaymentId)
        && (command.Capture.IsFinal ? captured.Held : captured.Released).ToDecimal() == 0;

    public override void Answer(Reply reply, Event recorded, bool isReplay) =>
        reply.Capture = new CapturePaymentResponse
        {
            TransactionId = recorded.TransactionId,
            PaymentId = recorded.PaymentCaptured.PaymentId,
            Amount = recorded.PaymentCaptured.Amount,
            Charged = recorded.PaymentCaptured.Charged,
            Held = recorded.PaymentCaptured.Held,
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
[JsonSerializable(typeof(PaymentCaptured))]
internal sealed partial class CaptureJson : JsonSerializerContext;
