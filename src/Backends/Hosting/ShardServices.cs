using System.Diagnostics;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.Hosting;

/// <summary>What operators do with the shards of the event store.</summary>
public static class ShardServices
{
    // Attempts of a move that got as far as copying: a fault that each of them meets will not pass.
    private const int AttemptsMax = 5;

    // How long the servers of a database may take to have a primary again.
    private static readonly TimeSpan AwayMax = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan RetryDelay = TimeSpan.FromSeconds(1);

    /// <summary>Lists the databases with the shards that each of them holds.</summary>
    /// <param name="services">The services of <see cref="BackendServices.AddBackendCore"/>, with all databases.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="NpgsqlException">A database does not answer.</exception>
    public static async Task<IReadOnlyList<(string Name, IReadOnlyList<int> Shards)>> ListShardsAsync(
        this IServiceProvider services, CancellationToken cancellationToken)
    {
        var found = new List<(string, IReadOnlyList<int>)>();
        foreach (var database in services.GetRequiredService<EventStoreDatabases>().All)
        {
            await database.Servers.LookForPrimaryAsync(cancellationToken);
            found.Add((database.Name, [.. (await database.Store.HeldShardsAsync(cancellationToken)).Keys.Order()]));
        }
        return found;
    }

    /// <summary>Begins a new incarnation of all databases, of which some were restored to an earlier time
    /// (<see cref="StoredFunction.BeginIncarnation"/>).</summary>
    /// <param name="services">The services of <see cref="BackendServices.AddBackendCore"/>, with all databases,
    /// as a role that owns the tables.</param>
    /// <param name="cancellationToken">Ends it; it can be started again.</param>
    /// <exception cref="StoreCopyException">Two databases hold one shard: one was restored to a time before a move,
    /// and must not get the higher number.</exception>
    /// <exception cref="NpgsqlException">A database failed.</exception>
    public static async Task BeginIncarnationAsync(this IServiceProvider services, CancellationToken cancellationToken)
    {
        var databases = services.GetRequiredService<EventStoreDatabases>();
        await databases.EnsureAsync(cancellationToken);
        var held = await services.ListShardsAsync(cancellationToken);
        if (held.SelectMany(database => database.Shards).GroupBy(shard => shard)
            .FirstOrDefault(shard => shard.Count() > 1) is { Key: var twice })
        {
            var holders = held.Where(database => database.Shards.Contains(twice)).Select(database => database.Name);
            throw new StoreCopyException(
                $"{string.Join(" and ", holders)} both hold shard {twice}: one was restored to a time before it was "
                    + "moved. Restore all databases to one time.");
        }
        var open = held.SelectMany(database => database.Shards).ToArray();
        foreach (var database in databases.All)
        {
            await database.Servers.UseAsync(
                async (primary, token) =>
                {
                    await using var begin = primary.CreateCommand(
                        StoredFunction.BeginIncarnation.Call(database.Settings.Schema));
                    begin.Parameters.Add(new NpgsqlParameter<int[]> { TypedValue = open });
                    return await begin.ExecuteNonQueryAsync(token);
                },
                cancellationToken);
        }
    }

    /// <summary>Prepares the comparison of published events with the event store.</summary>
    /// <param name="services">The services of <see cref="BackendServices.AddBackendCore"/>, with all databases.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    internal static async Task<LostEvents> LostEventsAsync(
        this IServiceProvider services, CancellationToken cancellationToken)
    {
        var databases = services.GetRequiredService<EventStoreDatabases>();
        await databases.EnsureAsync(cancellationToken);
        return new LostEvents(
            databases,
            services.GetRequiredService<IOptions<BackendOptions>>().Value.OpenedAccount());
    }

    /// <summary>Moves a shard to a database while payments go on; its accounts wait for the last part of it. When a
    /// standby takes over from a database on the way, the move begins again: its accounts may be waiting. If it was
    /// interrupted otherwise, it is started again with the same arguments.</summary>
    /// <param name="services">The services of <see cref="BackendServices.AddBackendCore"/>, with all databases,
    /// as a role that owns the tables.</param>
    /// <param name="shard">The shard.</param>
    /// <param name="name">The database.</param>
    /// <param name="report">Receives what is being done, and why it begins again.</param>
    /// <param name="cancellationToken">Ends it; the shard's accounts may have to wait then until
    /// it is moved again.</param>
    /// <returns>The number of events that were moved, and for how long the accounts had to wait,
    /// both by the last attempt.</returns>
    /// <exception cref="StoreCopyException">It cannot be moved; the message says why.</exception>
    /// <exception cref="NpgsqlException">A database refused the move, failed several times on the way, or for minutes;
    /// move it again.</exception>
    public static async Task<(int Events, TimeSpan Closed)> MoveShardAsync(
        this IServiceProvider services, int shard, string name,
        Action<string> report, CancellationToken cancellationToken)
    {
        var (begun, waitingSince) = (0, (long?)null);
        while (true)
        {
            var before = begun;
            try
            {
                return await TryMoveAsync(
                    services, shard, name, doing =>
                    {
                        begun = before + 1;
                        report(doing);
                    },
                    cancellationToken);
            }
            catch (Exception e) when (EventStoreFailure.IsOfAllRows(e) || EventStoreFailure.IsSequenceNumberTaken(e))
            {
                waitingSince = begun > before ? null : waitingSince;
                waitingSince ??= Stopwatch.GetTimestamp();
                // Before anything was copied, settings may be wrong; but what answers slowly is there.
                var mayPass = begun > 0
                    ? begun < AttemptsMax
                    : e.GetBaseException() is TimeoutException or PostgresException { IsTransient: true };
                if (!mayPass || Stopwatch.GetElapsedTime(waitingSince.Value) > AwayMax)
                {
                    throw;
                }
                report($"{e.GetBaseException().Message.TrimEnd('.')}: beginning again");
                await Task.WhenAll(services.GetRequiredService<EventStoreDatabases>().All
                    .Select(database => database.Servers.LookForPrimaryAsync(cancellationToken)));
                await Task.Delay(RetryDelay, cancellationToken);
            }
        }
    }

    private static async Task<(int Events, TimeSpan Closed)> TryMoveAsync(
        IServiceProvider services, int shard, string name, Action<string> report, CancellationToken cancellationToken)
    {
        var databases = services.GetRequiredService<EventStoreDatabases>();
        var to = databases.All.FirstOrDefault(database => database.Name == name)
            ?? throw new StoreCopyException(
                $"There is no database '{name}'; there are "
                + $"{string.Join(", ", databases.All.Select(database => database.Name))}.");
        await databases.EnsureAsync(cancellationToken);
        var (from, movingTo) = await HolderAsync(databases.All, shard, cancellationToken)
            ?? throw new StoreCopyException($"No database holds shard {shard}: name all databases.");
        if (movingTo.Length > 0)
        {
            var other = databases.All.FirstOrDefault(database => database.Name == movingTo)
                ?? throw new StoreCopyException(
                    $"Shard {shard} was being moved to the database {movingTo}: name that, too.");
            await using var undone = new ShardMove(from, other, shard);
            await undone.UndoAsync(cancellationToken);
        }
        if (from == to)
        {
            foreach (var former in databases.All.Where(database => database != to))
            {
                await using var rest = new ShardMove(former, to, shard);
                await rest.CleanAsync(cancellationToken);
            }
            // The last statement of a move that was killed may have closed the shard since.
            // Its sessions have ended by now.
            return await HolderAsync(databases.All, shard, cancellationToken) == (to, "")
                ? (0, TimeSpan.Zero)
                : await TryMoveAsync(services, shard, name, report, cancellationToken);
        }
        await using var move = new ShardMove(from, to, shard);
        return await move.RunAsync(report, cancellationToken);
    }

    // While a shard is closed, no database says that it holds it. One that was restored to a time before a move does,
    // under a former number.
    private static async Task<(EventStoreDatabase Database, string MovingTo)?> HolderAsync(
        IEnumerable<EventStoreDatabase> databases, int shard, CancellationToken cancellationToken)
    {
        (EventStoreDatabase, string)? holder = null;
        var last = 0L;
        foreach (var database in databases)
        {
            var (movingTo, epoch) = await database.Servers.UseAsync(
                (primary, token) => HeldAsync(primary, database, shard, token), cancellationToken);
            if (epoch > last)
            {
                (holder, last) = ((database, movingTo), epoch);
            }
        }
        return holder;
    }

    // Under which number a database holds a shard, and where it is being moved to; 0 if it does not hold it.
    private static async Task<(string MovingTo, long Epoch)> HeldAsync(
        NpgsqlDataSource primary, EventStoreDatabase database, int shard, CancellationToken cancellationToken)
    {
        await using var question = primary.CreateCommand(
            $"select coalesce(moving_to, ''), epoch from {EventStoreSchema.ShardsHere(database.Settings.Schema)} "
            + "where number = $1 and is_held");
        question.Parameters.AddWithValue(shard);
        await using var row = await question.ExecuteReaderAsync(cancellationToken);
        return await row.ReadAsync(cancellationToken) ? (row.GetString(0), row.GetInt64(1)) : ("", 0);
    }
}
