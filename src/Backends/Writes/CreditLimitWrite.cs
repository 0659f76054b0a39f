using System.Text.Json.Serialization;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using CreditLimitChanged = Billing.Backends.Domain.CreditLimitChanged;

namespace Billing.Backends.Writes;

/// <summary>A change of a credit limit.</summary>
internal sealed class CreditLimitWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.CreditLimit;

    public override IReadOnlyList<EventKind> Events { get; } =
    [
        new EventKind<CreditLimitChanged>(CreditLimitJson.Default.CreditLimitChanged)
        {
            Name = "credit_limit_changed_v1",
            Outcome = "limit_changed",
            Field = Event.FactOneofCase.CreditLimitChanged,
            EntryType = StatementEntryType.CreditLimitChanged,
            ToWire = (fact, recorded) =>
                recorded.CreditLimitChanged = new() { Limit = fact.Limit.ToMoney(fact.Currency) },
            ToDomain = (recorded, common) => recorded.CreditLimitChanged.Limit is { } limit
                ? new CreditLimitChanged(common.TransactionId, limit.ToDecimal(), limit.CurrencyCode, common.DecidedAt)
                {
                    Balance = common.Balance,
                }
                : null,
            ToEntry = (fact, entry) => entry.Amount = fact.Limit.ToMoney(fact.Currency),
        },
    ];

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) =>
        new CreditLimitChange(
            Guid.Parse(command.TransactionId), command.CreditLimit.Limit.ToDecimal(),
            command.CreditLimit.Limit.CurrencyCode, traceId);

    protected override string MoneyField => "limit";

    protected override bool AsksFor(Command command, Event recorded) =>
        recorded.CreditLimitChanged is { } changed && AreSame(command.CreditLimit.Limit, changed.Limit);

    public override void Answer(Reply reply, Event recorded, bool isReplay) =>
        reply.CreditLimit = new SetCreditLimitResponse
        {
            TransactionId = recorded.TransactionId,
            Limit = recorded.CreditLimitChanged.Limit,
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
[JsonSerializable(typeof(CreditLimitChanged))]
internal sealed partial class CreditLimitJson : JsonSerializerContext;
