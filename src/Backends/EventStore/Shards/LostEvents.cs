using Billing.Backends.Domain;
using Billing.Messaging;
using Billing.Wire.V1;
using Npgsql;

namespace Billing.Backends.EventStore.Shards;

/// <summary>Finds published events that the event store does not have, since it was restored to an earlier time,
/// and stores those again that continue their accounts as if nothing had happened. Not thread-safe.</summary>
internal sealed class LostEvents(EventStoreDatabases databases, Account opened)
{
    // By their own ids: the topic may have an event several times.
    private readonly Dictionary<Guid, (Event Recorded, string? InTheWay)> _missing = [];

    /// <summary>Compares published events with the store, and notes those that it does not have, or has
    /// otherwise.</summary>
    /// <returns>How many of them no backend would have published; they are left out.</returns>
    /// <exception cref="StoreCopyException">No database that answers holds an account.</exception>
    public async Task<int> CompareAsync(IReadOnlyList<Event> events, CancellationToken cancellationToken)
    {
        var wanted = new Dictionary<int, Dictionary<CommandId, List<Event>>>();
        var foreign = 0;
        foreach (var recorded in events)
        {
            if (recorded.ToStored() is not { } fact)
            {
                foreign++;
                continue;
            }
            var database = DatabaseOf(recorded.StreamId);
            var ofDatabase = wanted.TryGetValue(database, out var known) ? known : wanted[database] = [];
            var id = new CommandId(fact.TransactionId, recorded.StreamId);
            (ofDatabase.TryGetValue(id, out var same) ? same : ofDatabase[id] = []).Add(recorded);
        }
        foreach (var (database, commands) in wanted)
        {
            var stored = await databases.All[database].Store.FindReceiptsAsync(commands.Keys, [], cancellationToken);
            foreach (var (id, published) in commands)
            {
                var receipt = stored.GetValueOrDefault(id);
                foreach (var recorded in published.Where(recorded => receipt is null || !AreSame(recorded, receipt)))
                {
                    _missing[EventIds.Of(recorded)] = (recorded, InTheWay(receipt));
                }
            }
        }
        return foreign;
    }

    /// <summary>What is missing, account by account.</summary>
    public async Task<IReadOnlyList<LostAccount>> FindAsync(CancellationToken cancellationToken)
    {
        var accounts = new List<LostAccount>();
        var lost = _missing.Values.OrderBy(missing => missing.Recorded.StreamId, StringComparer.Ordinal)
            .ThenBy(missing => missing.Recorded.Incarnation).ThenBy(missing => missing.Recorded.Version);
        foreach (var ofAccount in lost.GroupBy(missing => missing.Recorded.StreamId))
        {
            var store = databases.All[DatabaseOf(ofAccount.Key)].Store;
            accounts.Add(Judge(
                (await store.LoadAsync([ofAccount.Key], opened, cancellationToken))[ofAccount.Key], [.. ofAccount]));
        }
        return accounts;
    }

    /// <summary>Stores the events that continue an account, all in one transaction, as they were.</summary>
    /// <returns>False if the account has gone on meanwhile; then nothing is stored.</returns>
    /// <exception cref="NpgsqlException">The database failed; whether they are stored is unknown, and
    /// comparing again tells.</exception>
    public async Task<bool> ApplyAsync(LostAccount account, CancellationToken cancellationToken)
    {
        try
        {
            await databases.All[DatabaseOf(account.StreamId)].Store.AppendAsync(account.Next, [], cancellationToken);
            return true;
        }
        catch (PostgresException e)
            when (e.SqlState is StoredFunction.StreamMoved or PostgresErrorCodes.UniqueViolation)
        {
            return false;
        }
    }

    private static LostAccount Judge(Account stored, IReadOnlyList<(Event Recorded, string? InTheWay)> lost)
    {
        var (next, conflicts) = (new List<NewEvent>(), new List<(Event, string)>());
        var account = stored;
        foreach (var (recorded, inTheWay) in lost)
        {
            var before = $"version {account.Version}";
            if (inTheWay is not null)
            {
                conflicts.Add((recorded, inTheWay));
            }
            else if (recorded.Version <= stored.Version)
            {
                conflicts.Add((recorded, $"the account has gone on: another event is its version {recorded.Version}"));
            }
            else if (recorded.Version != account.Version + 1)
            {
                conflicts.Add((recorded, $"it does not follow {before}, the last that the store has or gets"));
            }
            else if (NewEvent.OfStored(recorded.StreamId, recorded.ToStored()!, account) is var added
                && added.Recorded.Hash == recorded.Hash)
            {
                next.Add(added);
                account = added.After;
            }
            else
            {
                conflicts.Add((recorded, $"its hash is not that of an event after {before} as the store has it"));
            }
        }
        return new LostAccount(lost[0].Recorded.StreamId, stored, next, conflicts);
    }

    // A command that was lost may have been sent again, or its id closed.
    private static string? InTheWay(Event? receipt) => receipt switch
    {
        null => null,
        { Version: 0 } => "its transaction id is closed: nothing can be recorded under it",
        _ => $"it was sent again, and is recorded as version {receipt.Version}, {receipt.FactCase}",
    };

    private static bool AreSame(Event published, Event stored) =>
        published.Version == stored.Version && published.Incarnation == stored.Incarnation
        && published.Hash == stored.Hash;

    private int DatabaseOf(string streamId) =>
        databases.Map.Find(Shard.Of(streamId)) is not ShardMap.Nowhere and var database
            ? database
            : throw new StoreCopyException(
                $"No database holds shard {Shard.Of(streamId)}, with the account {streamId}: name all databases.");
}

/// <summary>An account of which published events are missing in the store.</summary>
/// <param name="StreamId">Its stream.</param>
/// <param name="Stored">The account as it is stored.</param>
/// <param name="Next">The events that continue it exactly: the next versions, with the hashes that were
/// published.</param>
/// <param name="Conflicts">The others, each with the reason why it cannot be stored again as it was.</param>
internal sealed record LostAccount(
    string StreamId, Account Stored, IReadOnlyList<NewEvent> Next,
    IReadOnlyList<(Event Recorded, string Reason)> Conflicts);
