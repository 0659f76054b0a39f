using System.Runtime.CompilerServices;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Operator.Arguments;
using Npgsql;

namespace Billing.Operator.Exports;

/// <summary>Reads the events of whole days from all databases of the event store, in an order that does not depend on
/// which accounts are in which of them.</summary>
internal sealed class StoredDays : IAsyncDisposable
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan BehindMax = TimeSpan.FromSeconds(20);

    private readonly List<DatabaseDays> _databases = [];

    private StoredDays()
    {
    }

    /// <summary>Connects to the databases.</summary>
    /// <param name="databases">The databases, whose primaries are asked what is complete.</param>
    /// <param name="connections">The connection string of each, with which events are read:
    /// from a standby, if it says so.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    public static async Task<StoredDays> OpenAsync(
        IEnumerable<EventStoreDatabase> databases, IEnumerable<string> connections, CancellationToken cancellationToken)
    {
        var days = new StoredDays();
        try
        {
            foreach (var (database, connection) in databases.Zip(connections))
            {
                await database.Servers.LookForPrimaryAsync(cancellationToken);
                var session = new NpgsqlConnection(
                    new NpgsqlConnectionStringBuilder(database.Settings.SessionConnectionString)
                    {
                        TargetSessionAttributes = new NpgsqlConnectionStringBuilder(connection).TargetSessionAttributes,
                        Pooling = false,
                    }.ConnectionString);
                days._databases.Add(new DatabaseDays(database, session));
                await session.OpenAsync(cancellationToken);
            }
            return days;
        }
        catch
        {
            await days.DisposeAsync();
            throw;
        }
    }

    /// <summary>Waits a while until nothing can be added to a day, or to one before it, any more.</summary>
    /// <exception cref="CommandException">Something can.</exception>
    public async Task WaitUntilOverAsync(DateOnly day, CancellationToken cancellationToken)
    {
        foreach (var database in _databases)
        {
            await DayEnd.WaitAsync(database.Database, day, cancellationToken);
        }
    }

    /// <summary>Reads the events of a day that is over.</summary>
    /// <exception cref="CommandException">A shard is in none or several of the databases, or was moved meanwhile;
    /// or a standby is behind.</exception>
    public async IAsyncEnumerable<ExportedEvent> ReadAsync(
        DateOnly day, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var held = await HeldAsync(cancellationToken);
        var next = new PriorityQueue<IAsyncEnumerator<ExportedEvent>, ExportedEvent>(
            Comparer<ExportedEvent>.Create(ExportedEvent.Compare));
        foreach (var (database, shards) in _databases.Zip(held))
        {
            // After the shards: what the primary holds by then, a standby must have, too.
            await CatchUpAsync(database, cancellationToken);
            await AdvanceAsync(database.ReadAsync(day, shards.Keys.ToHashSet(), cancellationToken)
                .GetAsyncEnumerator(cancellationToken));
        }
        while (next.TryDequeue(out var events, out var first))
        {
            yield return first;
            await AdvanceAsync(events);
        }
        if (!held.Zip(await HeldAsync(cancellationToken))
            .All(pair => pair.First.OrderBy(shard => shard.Key).SequenceEqual(pair.Second.OrderBy(shard => shard.Key))))
        {
            throw new CommandException(
                "Shards were moved from one database to another meanwhile; run the command again.");
        }

        async Task AdvanceAsync(IAsyncEnumerator<ExportedEvent> events)
        {
            if (await events.MoveNextAsync())
            {
                next.Enqueue(events, events.Current);
            }
            else
            {
                await events.DisposeAsync();
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var database in _databases)
        {
            await database.Session.DisposeAsync();
        }
    }

    // The shards that each database holds, with the number of each, by which moves are noticed.
    private async Task<List<IReadOnlyDictionary<int, long>>> HeldAsync(CancellationToken cancellationToken)
    {
        var held = new List<IReadOnlyDictionary<int, long>>();
        foreach (var database in _databases)
        {
            held.Add(await database.Database.Store.HeldShardsAsync(cancellationToken));
        }
        var wrong = Enumerable.Range(0, Shard.Count)
            .Where(shard => held.Count(shards => shards.ContainsKey(shard)) != 1).ToList();
        return wrong.Count == 0 ? held : throw new CommandException(
            $"--postgres: of these databases not exactly one holds each of the shards {string.Join(", ", wrong)}: "
            + "name all databases, and export when no shard is being moved.");
    }

    private static async Task CatchUpAsync(DatabaseDays database, CancellationToken cancellationToken)
    {
        await using var isStandby = new NpgsqlCommand("select pg_is_in_recovery()", database.Session);
        if (await isStandby.ExecuteScalarAsync(cancellationToken) is not true)
        {
            return;
        }
        var position = await database.Database.Servers.UseAsync(
            async (primary, token) =>
            {
                await using var end = primary.CreateCommand("select pg_current_wal_insert_lsn()::text");
                return (string)(await end.ExecuteScalarAsync(token))!;
            },
            cancellationToken);
        await using var hasIt = new NpgsqlCommand("select pg_last_wal_replay_lsn() >= $1::pg_lsn", database.Session);
        hasIt.Parameters.AddWithValue(position);
        for (var start = TimeProvider.System.GetTimestamp(); await hasIt.ExecuteScalarAsync(
            cancellationToken) is not true;)
        {
            if (TimeProvider.System.GetElapsedTime(start) > BehindMax)
            {
                throw new CommandException(
                    $"--postgres: the standby {database.Session.Host}:{database.Session.Port} of the database "
                    + $"{database.Database.Name} does not catch up with its primary.");
            }
            await Task.Delay(PollInterval, cancellationToken);
        }
    }
}
