using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using HoldReleased = Billing.Wire.V1.HoldReleased;

namespace Billing.Backends.Writes;

/// <summary>A release of what is on hold, on request.</summary>
internal sealed class VoidWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.Void;

    public override IReadOnlyList<EventKind> Events { get; } =
    [
        Release.Kind(
            ReleaseJson.Default.AuthorisationVoided, "authorisation_voided_v1",
            "voided", Event.FactOneofCase.AuthorisationVoided,
            StatementEntryType.AuthorisationVoided, (recorded, released) => recorded.AuthorisationVoided = released,
            recorded => recorded.AuthorisationVoided,
            (common, payment, released) => new AuthorisationVoided(
                common.TransactionId, payment, released.Released.ToDecimal(), released.Released.CurrencyCode,
                common.DecidedAt)
            {
                Balance = common.Balance,
                Charged = released.Charged.ToDecimal(),
                Refunded = released.Refunded.ToDecimal(),
                Held = 0,
            }),
    ];

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) =>
        new Voiding(Guid.Parse(command.TransactionId), Guid.Parse(command.Void.PaymentId), traceId);

    protected override bool AsksFor(Command command, Event recorded) =>
        recorded.AuthorisationVoided is { } voided
        && Guid.Parse(command.Void.PaymentId) == Guid.Parse(voided.PaymentId);

    public override void Answer(Reply reply, Event recorded, bool isReplay) => reply.Void = new VoidPaymentResponse
    {
        TransactionId = recorded.TransactionId,
        PaymentId = recorded.AuthorisationVoided.PaymentId,
        Released = recorded.AuthorisationVoided.Released,
        Balance = recorded.Balance,
        OnHold = OnHold(recorded),
        DecideTime = DecideTime(recorded),
        Version = recorded.Version,
        Replayed = isReplay,
    };
}

/// <summary>A release of what is on hold, since its time is over. Nobody waits for a reply.</summary>
internal sealed class ExpiryWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.Expiry;

    public override IReadOnlyList<EventKind> Events { get; } =
    [
        Release.Kind(
            ReleaseJson.Default.AuthorisationExpired, "authorisation_expired_v1",
            "expired", Event.FactOneofCase.AuthorisationExpired,
            StatementEntryType.AuthorisationExpired, (recorded, released) => recorded.AuthorisationExpired = released,
            recorded => recorded.AuthorisationExpired,
            (common, payment, released) => new AuthorisationExpired(
                common.TransactionId, payment, released.Released.ToDecimal(), released.Released.CurrencyCode,
                common.DecidedAt)
            {
                Balance = common.Balance,
                Charged = released.Charged.ToDecimal(),
                Refunded = released.Refunded.ToDecimal(),
                Held = 0,
            }),
    ];

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) => new Expiring(
        Guid.Parse(command.TransactionId), Guid.Parse(command.Expiry.PaymentId),
        UnixTime.FromMicroseconds(command.Expiry.AsOfUnixUs));

    protected override bool AsksFor(Command command, Event recorded) => true;

    public override void Answer(Reply reply, Event recorded, bool isReplay)
    {
    }
}

/// <summary>What both events have in common.</summary>
internal static class Release
{
    public static EventKind Kind<T>(
        JsonTypeInfo<T> json, string name, string outcome, Event.FactOneofCase field, StatementEntryType entryType,
        Action<Event, HoldReleased> write, Func<Event, HoldReleased> read,
        Func<CommonParts, Guid, HoldReleased, T> create)
        where T : Domain.HoldReleased => new EventKind<T>(json)
        {
            Name = name,
            Outcome = outcome,
            Field = field,
            EntryType = entryType,
            ToWire = (fact, recorded) => write(recorded, new HoldReleased
            {
                PaymentId = fact.PaymentId.ToString(),
                Released = fact.Released.ToMoney(fact.Currency),
                Charged = fact.Charged.ToMoney(fact.Currency),
                Refunded = fact.Refunded.ToMoney(fact.Currency),
            }),
            ToDomain = (recorded, common) =>
                read(recorded) is { Released: not null, Charged: not null, Refunded: not null } released
                && Guid.TryParse(released.PaymentId, out var paymentId)
                    ? create(common, paymentId, released)
                    : null,
            ToEntry = (fact, entry) =>
            {
                entry.Amount = fact.Released.ToMoney(fact.Currency);
                entry.PaymentId = fact.PaymentId.ToString();
            },
        };
}

/// <summary>Serialises the events without reflection. Optional fields without a value are left out.</summary>
[JsonSourceGenerationOptions(
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull, Converters = [typeof(PlainDecimals)])]
[JsonSerializable(typeof(AuthorisationVoided))]
[JsonSerializable(typeof(AuthorisationExpired))]
internal sealed partial class ReleaseJson : JsonSerializerContext;
