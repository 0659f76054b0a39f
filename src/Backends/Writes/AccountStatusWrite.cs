using System.Text.Json.Serialization;
using Billing.Backends.Domain;
using Billing.V1;
using Billing.Wire.V1;
using AccountStatusChanged = Billing.Backends.Domain.AccountStatusChanged;

namespace Billing.Backends.Writes;

/// <summary>A change of an account's status.</summary>
internal sealed class AccountStatusWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.AccountStatus;

    public override IReadOnlyList<EventKind> Events { get; } =
    [
        new EventKind<AccountStatusChanged>(AccountStatusJson.Default.AccountStatusChanged)
        {
            Name = "account_status_changed_v1",
            Outcome = "status_changed",
            Field = Event.FactOneofCase.AccountStatusChanged,
            EntryType = StatementEntryType.AccountStatusChanged,
            ToWire = (fact, recorded) => recorded.AccountStatusChanged = new() { Status = fact.AccountStatus },
            ToDomain = (recorded, common) => recorded.AccountStatusChanged.Status
                is var status and (AccountStatus.Open or AccountStatus.Frozen or AccountStatus.Closed)
                    ? new AccountStatusChanged(common.TransactionId, common.DecidedAt)
                    {
                        Balance = common.Balance,
                        Status = status == AccountStatus.Open ? null : status,
                    }
                    : null,
            ToEntry = (_, _) => { },
        },
    ];

    public override PaymentNotes? NotesOf(Command command) => command.AccountStatus.Notes;

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) =>
        new AccountStatusChange(Guid.Parse(command.TransactionId), command.AccountStatus.AccountStatus, traceId);

    protected override bool AsksFor(Command command, Event recorded) =>
        recorded.AccountStatusChanged is { } changed && command.AccountStatus.AccountStatus == changed.Status;

    public override void Answer(Reply reply, Event recorded, bool isReplay) =>
        reply.AccountStatus = new SetAccountStatusResponse
        {
            TransactionId = recorded.TransactionId,
            AccountStatus = recorded.AccountStatusChanged.Status,
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
[JsonSerializable(typeof(AccountStatusChanged))]
internal sealed partial class AccountStatusJson : JsonSerializerContext;
