using Billing.Backends.Domain;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Backends.EventStore;

/// <summary>Converts events between the domain and the wire contract.</summary>
public static class RecordedEvent
{
    private static readonly long DecidedUnixUsMin = UnixTime.Microseconds(DateTimeOffset.MinValue);
    private static readonly long DecidedUnixUsMax = UnixTime.Microseconds(DateTimeOffset.MaxValue);

    /// <summary>The wire event for a domain event and the account after it.</summary>
    public static Event ToWire(string streamId, AccountEvent fact, Account after) =>
        ToWire(streamId, after.Version, fact, after.Balance, after.Currency);

    /// <summary>The wire event for a stored event that states the account's balance.</summary>
    internal static Event ToWire(string streamId, long version, AccountEvent fact) => fact.Balance is { } balance
        ? ToWire(streamId, version, fact, balance, fact.AccountCurrency)
        : throw new ArgumentException($"Version {version} of {streamId} does not state the balance.", nameof(fact));

    private static Event ToWire(string streamId, long version, AccountEvent fact, decimal balance, string? currency)
    {
        var recorded = new Event
        {
            StreamId = streamId,
            Version = version,
            TransactionId = fact.TransactionId == Guid.Empty ? "" : fact.TransactionId.ToString(),
            DecidedUnixUs = UnixTime.Microseconds(fact.DecidedAt),
            Balance = balance.ToMoney(currency ?? ""),
            OnHold = fact.OnHold?.ToMoney(currency ?? ""),
            AccountStatus = fact.Status ?? AccountStatus.Unspecified,
            Notes = fact.Notes?.ToMessage(),
        };
        WriteKinds.Of(fact).Write(fact, recorded);
        return recorded;
    }

    /// <summary>The domain event for a wire event; the reverse of <see cref="ToWire(string, AccountEvent, Account)"/>.</summary>
    /// <returns>Null if this program does not know the event's type, or no backend would have written such an event.</returns>
    internal static AccountEvent? ToFact(this Event recorded)
    {
        var transactionId = Guid.Empty;
        return (recorded.TransactionId.Length > 0 && !Guid.TryParse(recorded.TransactionId, out transactionId))
            || recorded.DecidedUnixUs < DecidedUnixUsMin || recorded.DecidedUnixUs > DecidedUnixUsMax
            ? null
            : WriteKinds.Of(recorded)?.Read(recorded, transactionId, UnixTime.FromMicroseconds(recorded.DecidedUnixUs));
    }
}
