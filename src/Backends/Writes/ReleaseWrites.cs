using System.Text.Json.Serialization;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using AuthorisationExpired = Billing.Backends.Domain.AuthorisationExpired;
using AuthorisationVoided = Billing.Backends.Domain.AuthorisationVoided;

namespace Billing.Backends.Writes;

/// <summary>A release of what is on hold, on request.</summary>
internal sealed class VoidWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.Void;

    public override IReadOnlyList<EventKind> Events { get; } =
    [
        new EventKind<AuthorisationVoided>(ReleaseJson.Default.AuthorisationVoided)
        {
            Name = "authorisation_voided_v1",
            Outcome = "voided",
            Field = Event.FactOneofCase.AuthorisationVoided,
            EntryType = StatementEntryType.AuthorisationVoided,
            ToWire = (fact, recorded) => recorded.AuthorisationVoided = new()
            {
                PaymentId = fact.PaymentId.ToString(),
                Released = fact.Released.ToMoney(fact.Currency),
                Charged = fact.Charged.ToMoney(fact.Currency),
                Refunded = fact.Refunded.ToMoney(fact.Currency),
            },
            ToDomain = (recorded, transactionId, decidedAt) =>
                recorded.AuthorisationVoided is { Released: { } released, Charged: { } charged, Refunded: { } refunded } fact
                && Guid.TryParse(fact.PaymentId, out var paymentId)
                    ? new AuthorisationVoided(transactionId, paymentId, released.ToDecimal(), released.CurrencyCode, decidedAt)
                    {
                        Charged = charged.ToDecimal(),
                        Refunded = refunded.ToDecimal(),
                        Held = 0,
                    }
                    : null,
            ToEntry = (fact, entry) =>
            {
                entry.Amount = fact.Released.ToMoney(fact.Currency);
                entry.PaymentId = fact.PaymentId.ToString();
            },
        },
    ];

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) =>
        new Voiding(Guid.Parse(command.TransactionId), Guid.Parse(command.Void.PaymentId), traceId);

    public override bool IsAnsweredBy(Command command, Event recorded) =>
        recorded.AuthorisationVoided is { } voided && Guid.Parse(command.Void.PaymentId) == Guid.Parse(voided.PaymentId);

    public override void Answer(Reply reply, Event recorded) => reply.Void = new VoidPaymentResponse
    {
        TransactionId = recorded.TransactionId,
        PaymentId = recorded.AuthorisationVoided.PaymentId,
        Released = recorded.AuthorisationVoided.Released,
        Balance = recorded.Balance,
        Version = recorded.Version,
    };
}

/// <summary>A release of what is on hold, since its time is over. Nobody waits for a reply.</summary>
internal sealed class ExpiryWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.Expiry;

    public override IReadOnlyList<EventKind> Events { get; } =
    [
        new EventKind<AuthorisationExpired>(ReleaseJson.Default.AuthorisationExpired)
        {
            Name = "authorisation_expired_v1",
            Outcome = "expired",
            Field = Event.FactOneofCase.AuthorisationExpired,
            EntryType = StatementEntryType.AuthorisationExpired,
            ToWire = (fact, recorded) => recorded.AuthorisationExpired = new()
            {
                PaymentId = fact.PaymentId.ToString(),
                Released = fact.Released.ToMoney(fact.Currency),
                Charged = fact.Charged.ToMoney(fact.Currency),
                Refunded = fact.Refunded.ToMoney(fact.Currency),
            },
            ToDomain = (recorded, transactionId, decidedAt) =>
                recorded.AuthorisationExpired is { Released: { } released, Charged: { } charged, Refunded: { } refunded } fact
                && Guid.TryParse(fact.PaymentId, out var paymentId)
                    ? new AuthorisationExpired(transactionId, paymentId, released.ToDecimal(), released.CurrencyCode, decidedAt)
                    {
                        Charged = charged.ToDecimal(),
                        Refunded = refunded.ToDecimal(),
                        Held = 0,
                    }
                    : null,
            ToEntry = (fact, entry) =>
            {
                entry.Amount = fact.Released.ToMoney(fact.Currency);
                entry.PaymentId = fact.PaymentId.ToString();
            },
        },
    ];

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) => new Expiry(
        Guid.Parse(command.TransactionId), Guid.Parse(command.Expiry.PaymentId), UnixTime.FromMicroseconds(command.Expiry.AsOfUnixUs));

    public override bool IsAnsweredBy(Command command, Event recorded) => true;

    public override void Answer(Reply reply, Event recorded)
    {
    }
}

/// <summary>Serialises the events without reflection. Optional fields without a value are left out.</summary>
[JsonSourceGenerationOptions(DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(AuthorisationVoided))]
[JsonSerializable(typeof(AuthorisationExpired))]
internal sealed partial class ReleaseJson : JsonSerializerContext;
