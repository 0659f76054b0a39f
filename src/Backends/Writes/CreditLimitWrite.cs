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
            Name = "credit_limit_changed_v2",
            Outcome = "limit_changed",
            Field = Event.FactOneofCase.CreditLimitChanged,
            EntryType = StatementEntryType.CreditLimitChanged,
            ToWire = (fact, recorded) => recorded.CreditLimitChanged = new() { Limit = fact.Limit.ToMoney(fact.Currency) },
            ToDomain = (recorded, transactionId, decidedAt) => recorded.CreditLimitChanged.Limit is { } limit
                ? new CreditLimitChanged(transactionId, limit.ToDecimal(), limit.CurrencyCode, decidedAt)
                : null,
            ToEntry = (fact, entry) => entry.Amount = fact.Limit.ToMoney(fact.Currency),
            Former =
            [
                FormerShape.Of<CreditLimitChangedV1, CreditLimitChanged>(
                    "credit_limit_changed_v1", CreditLimitJson.Default.CreditLimitChangedV1,
                    old => new CreditLimitChanged(Guid.Empty, old.Limit, old.Currency, old.DecidedAt)),
            ],
        },
    ];

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) => new CreditLimitChange(
        Guid.Parse(command.TransactionId), command.CreditLimit.Limit.ToDecimal(), command.CreditLimit.Limit.CurrencyCode, traceId);

    protected override string MoneyField => "limit";

    protected override bool AsksFor(Command command, Event recorded) =>
        recorded.CreditLimitChanged is { } changed && AreSame(command.CreditLimit.Limit, changed.Limit);

    public override void Answer(Reply reply, Event recorded) => reply.CreditLimit = new SetCreditLimitResponse
    {
        TransactionId = recorded.TransactionId,
        Limit = recorded.CreditLimitChanged.Limit,
        Balance = recorded.Balance,
        Version = recorded.Version,
    };
}

/// <summary>A change of a credit limit as it was stored before such changes had an idempotency key.</summary>
internal sealed record CreditLimitChangedV1(decimal Limit, string Currency, DateTimeOffset DecidedAt);

/// <summary>Serialises the events without reflection. Optional fields without a value are left out.</summary>
[JsonSourceGenerationOptions(DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull, Converters = [typeof(PlainDecimals)])]
[JsonSerializable(typeof(CreditLimitChanged))]
[JsonSerializable(typeof(CreditLimitChangedV1))]
internal sealed partial class CreditLimitJson : JsonSerializerContext;
