using System.Text.Json.Serialization;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;
using AuthorisationDeclined = Billing.Backends.Domain.AuthorisationDeclined;
using PaymentAuthorised = Billing.Backends.Domain.PaymentAuthorised;

namespace Billing.Backends.Writes;

/// <summary>An amount that is put on hold.</summary>
internal sealed class AuthorisationWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.Authorise;

    public override bool NeedsAuthorisation => true;

    public override IReadOnlyList<EventKind> Events { get; } =
    [
        new EventKind<PaymentAuthorised>(AuthorisationJson.Default.PaymentAuthorised)
        {
            Name = "payment_authorised_v1",
            Outcome = "authorised",
            Field = Event.FactOneofCase.PaymentAuthorised,
            EntryType = StatementEntryType.PaymentAuthorised,
            ToWire = (fact, recorded) => recorded.PaymentAuthorised = new()
            {
                Amount = fact.Amount.ToMoney(fact.Currency),
                ExpireUnixUs = UnixTime.Microseconds(fact.ExpiresAt),
            },
            ToDomain = (recorded, common) =>
                recorded.PaymentAuthorised is { Amount: { } amount, ExpireUnixUs: var expires }
                && UnixTime.IsDate(expires)
                    ? new PaymentAuthorised(
                        common.TransactionId, amount.ToDecimal(), amount.CurrencyCode,
                        UnixTime.FromMicroseconds(expires), common.DecidedAt)
                    {
                        Balance = common.Balance,
                    }
                    : null,
            ToEntry = (fact, entry) => entry.Amount = fact.Amount.ToMoney(fact.Currency),
        },
        new EventKind<AuthorisationDeclined>(AuthorisationJson.Default.AuthorisationDeclined)
        {
            Name = "authorisation_declined_v1",
            Outcome = "declined",
            Field = Event.FactOneofCase.AuthorisationDeclined,
            EntryType = StatementEntryType.AuthorisationDeclined,
            ToWire = (fact, recorded) => recorded.AuthorisationDeclined = new()
            {
                Amount = fact.Amount.ToMoney(fact.Currency),
                Reason = fact.Reason,
            },
            ToDomain = (recorded, common) => recorded.AuthorisationDeclined is { Amount: { } amount } declined
                ? new AuthorisationDeclined(
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

    public override PaymentNotes? NotesOf(Command command) => command.Authorise.Notes;

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) => new Authorisation(
        Guid.Parse(command.TransactionId), command.Authorise.Amount.ToDecimal(), command.Authorise.Amount.CurrencyCode,
        TimeSpan.FromSeconds(Seconds(command.Authorise)), traceId);

    // How long it stands is known of one that is on hold only.
    protected override bool AsksFor(Command command, Event recorded) =>
        (recorded.PaymentAuthorised is { } authorised && AreSame(command.Authorise.Amount, authorised.Amount)
            && authorised.ExpireUnixUs - recorded.DecidedUnixUs == Seconds(command.Authorise) * 1_000_000L)
        || (recorded.AuthorisationDeclined is { } declined && AreSame(command.Authorise.Amount, declined.Amount));

    public override void Answer(Reply reply, Event recorded, bool isReplay)
    {
        var response = reply.Authorise = new AuthorisePaymentResponse
        {
            TransactionId = recorded.TransactionId,
            Outcome = PaymentOutcome.Accepted,
            Balance = recorded.Balance,
            OnHold = OnHold(recorded),
            DecideTime = DecideTime(recorded),
            Version = recorded.Version,
            Replayed = isReplay,
        };
        if (recorded.AuthorisationDeclined is { Reason: var reason })
        {
            (response.Outcome, response.DeclineReason, response.Message) =
                (PaymentOutcome.Declined, reason, PaymentWrite.MessageOf(reason));
        }
        else
        {
            response.ExpireTime = UnixTime.FromMicroseconds(recorded.PaymentAuthorised.ExpireUnixUs).ToTimestamp();
        }
    }

    private static long Seconds(AuthorisePaymentRequest request) =>
        request.HoldDuration is { Seconds: > 0 and var seconds } ? seconds : FieldRules.HoldSecondsDefault;
}

/// <summary>Serialises the events without reflection. Optional fields without a value are left out.</summary>
[JsonSourceGenerationOptions(
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull, Converters = [typeof(PlainDecimals)])]
[JsonSerializable(typeof(PaymentAuthorised))]
[JsonSerializable(typeof(AuthorisationDeclined))]
internal sealed partial class AuthorisationJson : JsonSerializerContext;
