using Billing.Backends.Domain;
using Billing.Backends.EventStore;

namespace Billing.Simulation.Store;

/// <summary>One event in the model of the event store.</summary>
/// <param name="StreamId">The account's stream.</param>
/// <param name="Version">The version.</param>
/// <param name="Fact">The event.</param>
/// <param name="Recorded">The event as the wire contract states it.</param>
/// <param name="Hash">What the next event is chained to.</param>
internal sealed record Stored(string StreamId, long Version, AccountEvent Fact, Wire.V1.Event Recorded, string Hash)
{
    /// <summary>When it was committed; negative if the run began with it.</summary>
    public long At { get; init; }

    /// <summary>The credit limits that accounts had without one of their own, by currency, in the settings of the
    /// process that decided it.</summary>
    public IReadOnlyDictionary<string, decimal> OpeningLimits { get; init; } = new Dictionary<string, decimal>();

    /// <summary>The command that it records.</summary>
    public CommandId Id => new(Fact.TransactionId, StreamId);
}

/// <summary>What was committed, whichever database took it: the books by which the databases, the answers and the
/// views are checked. A restore to an earlier time takes back what came after it.</summary>
internal sealed class StoreHistory
{
    private readonly Dictionary<string, List<Stored>> _streams = new(StringComparer.Ordinal);
    private readonly Dictionary<CommandId, long> _closed = [];

    /// <summary>Called with every appended event, for a trace.</summary>
    public Action<Stored>? Appended { get; set; }

    /// <summary>Called with the events that a restore has taken back.</summary>
    public Action<IReadOnlyList<Stored>>? Restored { get; set; }

    /// <summary>All events, in the order in which they were stored.</summary>
    public List<Stored> Events { get; } = [];

    /// <summary>The commands that were closed.</summary>
    public IEnumerable<CommandId> Closed => _closed.Keys;

    /// <summary>Whether a command was closed.</summary>
    public bool IsClosed(CommandId id) => _closed.ContainsKey(id);

    /// <summary>The payments with something on hold, and when that expires.</summary>
    public Dictionary<CommandId, DateTimeOffset> OpenHolds { get; } = [];

    public IReadOnlyList<Stored> Stream(string streamId) =>
        _streams.TryGetValue(streamId, out var stream) ? stream : [];

    /// <summary>Notes that an event was committed.</summary>
    public void Add(Stored stored)
    {
        if (!_streams.TryGetValue(stored.StreamId, out var stream))
        {
            _streams[stored.StreamId] = stream = [];
        }
        if (stored.Version != stream.Count + 1)
        {
            throw new SimulationException(
                $"{stored.StreamId}@{stored.Version} was stored where version {stream.Count + 1} was due");
        }
        stream.Add(stored);
        Events.Add(stored);
        Appended?.Invoke(stored);
        if (stored.Fact is PaymentAuthorised authorised)
        {
            OpenHolds[stored.Id] = authorised.ExpiresAt;
        }
        else if (stored.Fact is PaymentFollowUp { Held: 0 } and not PaymentRefunded)
        {
            OpenHolds.Remove(new CommandId(((PaymentFollowUp)stored.Fact).PaymentId, stored.StreamId));
        }
    }

    /// <summary>Notes that a command was closed.</summary>
    public void Close(CommandId id, long now) => _closed.TryAdd(id, now);

    /// <summary>Takes back what was committed after a moment.</summary>
    public void Restore(long moment)
    {
        var (kept, lost) = (Events.FindAll(e => e.At <= moment), Events.FindAll(e => e.At > moment));
        var appended = Appended;
        Appended = null;
        Events.Clear();
        _streams.Clear();
        OpenHolds.Clear();
        kept.ForEach(Add);
        Appended = appended;
        foreach (var id in _closed.Where(closed => closed.Value > moment).Select(closed => closed.Key).ToList())
        {
            _closed.Remove(id);
        }
        if (lost.Count > 0)
        {
            Points.Reach(Points.AnsweredLost);
        }
        Restored?.Invoke(lost);
    }
}
