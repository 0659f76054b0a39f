using System.Collections;
using System.Runtime.CompilerServices;
using Billing.Backends.Domain;
using Billing.Backends.Writes;
using Billing.Messaging;

namespace Billing.Backends.EventStore;

/// <summary>A partition of the commands, and the number of an ownership of it.</summary>
/// <param name="Partition">The partition.</param>
/// <param name="Epoch">The number, from 1; each new owner gets the next one. 0 for whichever it is.</param>
public readonly record struct PartitionEpoch(SourcePartition Partition, long Epoch);

/// <summary>What must still hold for a transaction to count: the epochs of partitions, and the epochs under
/// which the database holds the shards. It is the fencing token of M. Kleppmann, Designing Data-Intensive
/// Applications, chapter 8.</summary>
/// <param name="partitions">The epochs that must not have ended.</param>
/// <param name="shards">The epochs of shards; a shard that is not among them may have any.</param>
[CollectionBuilder(typeof(Fence), nameof(Of))]
public sealed class Fence(IReadOnlyList<PartitionEpoch> partitions, IReadOnlyList<(int Shard, long Epoch)> shards)
    : IEnumerable<PartitionEpoch>
{
    /// <summary>The epochs that must not have ended.</summary>
    public IReadOnlyList<PartitionEpoch> Partitions => partitions;

    /// <summary>A fence of epochs alone; of none, for whoever relies on nothing.</summary>
    public static Fence Of(ReadOnlySpan<PartitionEpoch> partitions) => new(partitions.ToArray(), []);

    /// <summary>The epoch under which the database must hold a shard; 0 for any.</summary>
    public long EpochOf(int shard)
    {
        // There are few shards, and mostly one.
        for (var i = 0; i < shards.Count; i++)
        {
            if (shards[i].Shard == shard)
            {
                return shards[i].Epoch;
            }
        }
        return 0;
    }

    /// <inheritdoc/>
    public IEnumerator<PartitionEpoch> GetEnumerator() => partitions.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}

/// <summary>One event to be appended.</summary>
/// <param name="Fact">The event.</param>
/// <param name="After">The account after it; its version is the event's.</param>
/// <param name="Recorded">The event as the wire contract states it.</param>
/// <param name="Body">The event as it is stored.</param>
public readonly record struct NewEvent(AccountEvent Fact, Account After, Wire.V1.Event Recorded, EventBody Body)
{
    /// <summary>The command that it records.</summary>
    public CommandId Id => new(Fact.TransactionId, Recorded.StreamId);

    /// <summary>The next event of an account.</summary>
    public static NewEvent Of(string streamId, AccountEvent fact, Account before)
    {
        return OfStored(
            streamId, before.Incarnation == 0 ? fact : fact with { Incarnation = before.Incarnation }, before);
    }

    /// <summary>The next event of an account, recorded under an incarnation that it states.</summary>
    internal static NewEvent OfStored(string streamId, AccountEvent fact, Account before)
    {
        var after = before.Apply(fact);
        var body = EventChain.Append(before.Head, streamId, after.Version, fact);
        var recorded = RecordedEvent.ToWire(streamId, after.Version, fact).Hashed(body.Hash);
        return new NewEvent(fact, after with { Head = body.Hash }, recorded, body);
    }
}

/// <summary>The accounts as they are stored: every call is one round trip, however many accounts it touches.
/// <see cref="EventStoreFailure"/> classifies its failures.</summary>
public interface IAccountReader
{
    /// <summary>Reads the current state of accounts, all as of one moment.</summary>
    /// <param name="streamIds">The accounts' streams, each once.</param>
    /// <param name="opened">The state of an account without events.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>Every requested account, by its stream id.</returns>
    Task<Dictionary<string, Account>> LoadAsync(
        string[] streamIds, Account opened, CancellationToken cancellationToken);
}

/// <summary>One database of the event store as the billing platform uses it: every call is one round trip or one
/// transaction, however many accounts it touches. <see cref="EventStoreFailure"/> classifies its failures.</summary>
public interface IAccountStore : IAccountReader
{
    /// <summary>The name of its database, in the settings.</summary>
    string Name { get; }

    /// <summary>Reads which shards the database holds. Of several servers, only the primary answers:
    /// whatever was read before this began was read before another one took over.</summary>
    /// <returns>The number of each, and its epoch: each move to another database and each restore raises it.</returns>
    Task<IReadOnlyDictionary<int, long>> HeldShardsAsync(CancellationToken cancellationToken);

    /// <summary>Lists accounts with events, in a fixed order.</summary>
    /// <param name="after">The stream of the last account that is known already; empty to begin.</param>
    /// <param name="limit">The most accounts to list.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The streams of the next accounts; fewer than the limit if there are no more.</returns>
    Task<string[]> ListAsync(string after, int limit, CancellationToken cancellationToken);

    /// <summary>Finds the receipts of commands: the events that record them.</summary>
    /// <param name="commands">The commands.</param>
    /// <param name="fence">What must still hold, for whoever relies on a command not being recorded.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The event of each command that is recorded; an event without a fact for one that is closed.</returns>
    Task<Dictionary<CommandId, Wire.V1.Event>> FindReceiptsAsync(
        IReadOnlyCollection<CommandId> commands, Fence fence, CancellationToken cancellationToken);

    /// <summary>Finds the receipts of commands that are to be refused for what their accounts are like.</summary>
    /// <param name="commands">The commands.</param>
    /// <param name="versions">The versions of their accounts by which that was decided.</param>
    /// <param name="fence">What must still hold.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="Exception">An account has another version, or the fence does not hold;
    /// see <see cref="EventStoreFailure"/>.</exception>
    Task<Dictionary<CommandId, Wire.V1.Event>> ConfirmAsync(
        IReadOnlyCollection<CommandId> commands, IReadOnlyDictionary<string, long> versions,
        Fence fence, CancellationToken cancellationToken);

    /// <summary>Reads the last event that follows up each of some payments, such as a refund.</summary>
    /// <returns>The event of each payment that has one.</returns>
    Task<Dictionary<CommandId, PaymentFollowUp>> LastFollowUpsAsync(
        IReadOnlyCollection<CommandId> payments, CancellationToken cancellationToken);

    /// <summary>Lists payments with something on hold whose time is over, and notes that: none of them is listed again
    /// for <see cref="StoreTimes.HoldTaken"/>, to whichever process.</summary>
    /// <param name="now">The time.</param>
    /// <param name="limit">The most to list.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    Task<IReadOnlyList<CommandId>> TakeDueHoldsAsync(
        DateTimeOffset now, int limit, CancellationToken cancellationToken);

    /// <summary>Closes commands without a receipt, for ever: no event can be recorded for them any more,
    /// whoever tries it.</summary>
    /// <param name="commands">The commands, and who sent each of them; null if that is not known.</param>
    /// <param name="fence">What must still hold; otherwise nothing is closed.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The receipts of all of them, as <see cref="FindReceiptsAsync"/> would find them.</returns>
    Task<Dictionary<CommandId, Wire.V1.Event>> CloseAsync(
        IReadOnlyCollection<(CommandId Id, Sender? By)> commands, Fence fence, CancellationToken cancellationToken);

    /// <summary>Begins a new epoch of partitions. Afterwards no append under an earlier epoch can be committed any
    /// more, and whatever was committed under one is visible.</summary>
    /// <param name="owned">The partitions, each once, with the epochs that must not have ended. An epoch that the same
    /// owner has begun since, without learning it, does not count as an end.</param>
    /// <param name="owner">Who begins them.</param>
    /// <param name="cancellationToken">Ends the wait; whether new epochs have begun by then is unknown.</param>
    /// <returns>The new epoch of each partition, without those whose epoch had ended.</returns>
    Task<Dictionary<SourcePartition, long>> BeginEpochsAsync(
        IReadOnlyCollection<PartitionEpoch> owned, Guid owner, CancellationToken cancellationToken);

    /// <summary>Appends the events of a batch in one transaction.</summary>
    /// <param name="batch">Events in order; each stream's versions follow one another.</param>
    /// <param name="fence">What must still hold; otherwise nothing is appended.</param>
    /// <param name="cancellationToken">Ends the wait; whether the batch was committed by then is unknown.</param>
    /// <exception cref="Exception">A shard is not in this database, a stream's version has changed, a command already
    /// has a receipt, an epoch has ended, or the store failed; see <see cref="EventStoreFailure"/>. Nothing of the
    /// batch is stored, unless the connection broke during the commit.</exception>
    Task AppendAsync(IReadOnlyList<NewEvent> batch, Fence fence, CancellationToken cancellationToken);
}

/// <summary>A payment as it is stored, with what has become of it.</summary>
/// <param name="Recorded">The event that records it.</param>
/// <param name="State">What has become of it.</param>
internal sealed record StoredPayment(Wire.V1.Event Recorded, PaymentState State)
{
    /// <summary>Finds payments by their transaction ids.</summary>
    /// <returns>The payments that there are. An id that is closed, or belongs to a command of another kind,
    /// has none.</returns>
    public static async Task<Dictionary<CommandId, StoredPayment>> FindAsync(
        IAccountStore store, IReadOnlyCollection<CommandId> ids, CancellationToken cancellationToken) =>
        await FollowUpAsync(store, await store.FindReceiptsAsync(ids, [], cancellationToken), cancellationToken);

    /// <summary>Finds what has become of payments.</summary>
    /// <param name="store">The database.</param>
    /// <param name="receipts">What is recorded of some commands; those that are no payments are left out.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public static async Task<Dictionary<CommandId, StoredPayment>> FollowUpAsync(
        IAccountStore store, Dictionary<CommandId, Wire.V1.Event> receipts, CancellationToken cancellationToken)
    {
        var payments = new Dictionary<CommandId, StoredPayment>(receipts.Count);
        foreach (var (id, recorded) in receipts)
        {
            if (PaymentState.Of(recorded.ToFact()) is { } state)
            {
                payments.Add(id, new StoredPayment(recorded, state));
            }
        }
        if (payments.Count > 0)
        {
            foreach (var (id, last) in await store.LastFollowUpsAsync(payments.Keys, cancellationToken))
            {
                payments[id] = payments[id] with { State = payments[id].State.After(last) };
            }
        }
        return payments;
    }
}
