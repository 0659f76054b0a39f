using Billing.Backends.Domain;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.Wire.V1;

namespace Billing.Backends.EventStore;

/// <summary>Converts events between the domain and the wire contract.</summary>
public static class RecordedEvent
{
    private static readonly long DecidedUnixUsMin = UnixTime.Microseconds(DateTimeOffset.MinValue);
    private static readonly long DecidedUnixUsMax = UnixTime.Microseconds(DateTimeOffset.MaxValue);

    /// <summary>The wire event for a domain event and the account after it.</summary>
    public static Event ToWire(string streamId, AccountEvent fact, Account after)
    {
        var recorded = new Event
        {
            StreamId = streamId,
            Version = after.Version,
            TransactionId = fact.TransactionId == Guid.Empty ? "" : fact.TransactionId.ToString(),
            DecidedUnixUs = UnixTime.Microseconds(fact.DecidedAt),
            Balance = after.Balance.ToMoney(after.Currency ?? ""),
        };
        WriteKinds.Of(fact).Write(fact, recorded);
        return recorded;
    }

    /// <summary>The domain event for a wire event; the reverse of <see cref="ToWire"/>.</summary>
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
