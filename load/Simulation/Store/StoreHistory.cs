using Billing.Backends.Domain;
using Billing.Backends.EventStore;

namespace Billing.Simulation.Store;

/// <summary>One event in the model of the event store.</summary>
internal sealed record Stored(string StreamId, long Version, AccountEvent Fact, Wire.V1.Event Recorded, string Hash);

/// <summary>What all databases of the event store hold together: streams and receipts.</summary>
internal sealed class StoreHistory
{
    private readonly Dictionary<string, List<Stored>> _streams = new(StringComparer.Ordinal);

    /// <summary>Called with every appended event, for a trace.</summary>
    public Action<Stored>? Appended { get; set; }

    /// <summary>All events, in the order in which they were stored.</summary>
    public List<Stored> Events { get; } = [];

    /// <summary>The event of each command; one without a fact for a command that is closed.</summary>
    public Dictionary<CommandId, Wire.V1.Event> Receipts { get; } = [];

    /// <summary>The payments with something on hold, and when that expires.</summary>
    public Dictionary<CommandId, DateTimeOffset> OpenHolds { get; } = [];

    /// <summary>The accounts with events.</summary>
    public IEnumerable<string> Streams => _streams.Keys;

    public IReadOnlyList<Stored> Stream(string streamId) => _streams.TryGetValue(streamId, out var stream) ? stream : [];

    public void Add(NewEvent added)
    {
        if (!_streams.TryGetValue(added.Recorded.StreamId, out var stream))
        {
            _streams[added.Recorded.StreamId] = stream = [];
        }
        // The version is the store's own count, whatever version the batch states.
        var stored = new Stored(added.Recorded.StreamId, stream.Count + 1, added.Fact, added.Recorded.Clone(), added.Body.Hash);
        stream.Add(stored);
        Events.Add(stored);
        Appended?.Invoke(stored);
        if (added.Fact is PaymentAuthorised authorised)
        {
            OpenHolds.Add(new CommandId(authorised.TransactionId, stored.StreamId), authorised.ExpiresAt);
        }
        else if (added.Fact is PaymentFollowUp { Held: 0 } and not PaymentRefunded)
        {
            OpenHolds.Remove(new CommandId(((PaymentFollowUp)added.Fact).PaymentId, stored.StreamId));
        }
        if (added.Id is { } id)
        {
            Receipts[id] = stored.Recorded;
        }
    }
}
