using System.Text.Json.Serialization;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using PaymentAccepted = Billing.Backends.Domain.PaymentAccepted;
using PaymentDeclined = Billing.Backends.Domain.PaymentDeclined;

namespace Billing.Backends.Writes;

/// <summary>A payment.</summary>
internal sealed class PaymentWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.Payment;

    public override bool NeedsAuthorisation => true;

    public override IReadOnlyList<EventKind> Events { get; } =
    [
        new EventKind<PaymentAccepted>(PaymentJson.Default.PaymentAccepted)
        {
            Name = "payment_accepted_v1",
            Outcome = "accepted",
            Field = Event.FactOneofCase.PaymentAccepted,
            EntryType = StatementEntryType.PaymentAccepted,
            ToWire = (fact, recorded) =>
                recorded.PaymentAccepted = new() { Amount = fact.Amount.ToMoney(fact.Currency) },
            ToDomain = (recorded, common) => recorded.PaymentAccepted.Amount is { } amount
                ? new PaymentAccepted(common.TransactionId, amount.ToDecimal(), amount.CurrencyCode, common.DecidedAt)
                {
                    Balance = common.Balance,
                }
                : null,
            ToEntry = (fact, entry) => entry.Amount = fact.Amount.ToMoney(fact.Currency),
        },
        new EventKind<PaymentDeclined>(PaymentJson.Default.PaymentDeclined)
        {
            Name = "payment_declined_v1",
            Outcome = "declined",
            Field = Event.FactOneofCase.PaymentDeclined,
            EntryType = StatementEntryType.PaymentDeclined,
            ToWire = (fact, recorded) => recorded.PaymentDeclined = new()
            {
                Amount = fact.Amount.ToMoney(fact.Currency),
                Reason = fact.Reason,
            },
            ToDomain = (recorded, common) => recorded.PaymentDeclined is { Amount: { } amount } declined
                ? new PaymentDeclined(
                    common.TransactionId, amount.ToDecimal(), amount.CurrencyCode, declined.Reason, common.DecidedAt)
                {
                    Balance = common.Balance,
                }
                : null,
            ToEntry = (fact, entry) =>
            {
                entry.Amount = fact.Amount.ToMoney(fact.Currency);
                entry.DeclineReason = fact.Reason;
            },
        },
    ];

    public override PaymentNotes? NotesOf(Command command) => command.Payment.Notes;

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) => new Payment(
        Guid.Parse(command.TransactionId), command.Payment.Amount.ToDecimal(),
        command.Payment.Amount.CurrencyCode, times, traceId);

    protected override bool AsksFor(Command command, Event recorded) =>
        AmountOf(recorded) is { } amount && AreSame(command.Payment.Amount, amount);

    public override void Answer(Reply reply, Event recorded, bool isReplay) =>
        reply.Payment = ToResponse(recorded, isReplay);

    /// <summary>The amount of the payment that an event records; null if it records none.</summary>
    internal static Money? AmountOf(Event recorded) =>
        recorded.PaymentAccepted?.Amount ?? recorded.PaymentDeclined?.Amount;

    internal static MakePaymentResponse ToResponse(Event recorded, bool isReplay = false)
    {
        var response = new MakePaymentResponse
        {
            TransactionId = recorded.TransactionId,
            Outcome = PaymentOutcome.Accepted,
            Balance = recorded.Balance,
            OnHold = OnHold(recorded),
            DecideTime = DecideTime(recorded),
            Version = recorded.Version,
            Replayed = isReplay,
        };
        if (recorded.PaymentDeclined is { } declined)
        {
            response.Outcome = PaymentOutcome.Declined;
            response.DeclineReason = declined.Reason;
            response.Message = MessageOf(declined.Reason);
        }
        return response;
    }

    internal static string MessageOf(DeclineReason reason) => reason switch
    {
        DeclineReason.CreditLimitExceeded => "The amount is more than the account may still spend.",
        DeclineReason.CurrencyMismatch => "The account is kept in another currency.",
        DeclineReason.AccountFrozen => "The account is frozen.",
        DeclineReason.AccountClosed => "The account is closed.",
        _ => "The payment was declined.",
    };
}

/// <summary>Serialises the events without reflection. Optional fields without a value are left out.</summary>
[JsonSourceGenerationOptions(
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull, Converters = [typeof(PlainDecimals)])]
[JsonSerializable(typeof(PaymentAccepted))]
[JsonSerializable(typeof(PaymentDeclined))]
internal sealed partial class PaymentJson : JsonSerializerContext;
