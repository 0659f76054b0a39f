using Billing.Hosting;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.EventStore.Shards;

/// <summary>All databases of the event store, and which shards each of them holds.</summary>
internal sealed partial class EventStoreDatabases : IAsyncDisposable
{
    // How long a start waits for databases beside one that can be used.
    private static readonly TimeSpan LateMax = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan TryAgainDelay = TimeSpan.FromMilliseconds(250);

    private readonly TimeProvider _time;
    private readonly ILogger _logger;

    public EventStoreDatabases(
        IOptions<EventStoreOptions> options, TimeProvider time, ILogger<EventStoreDatabases> logger)
    {
        (_time, _logger) = (time, logger);
        All = [.. options.Value.Each().Select(each => new EventStoreDatabase(each.Name, each.Settings, time))];
        Map = new ShardMap([.. All.Select(database => database.Store)], time);
    }

    /// <summary>The databases, in the order of their names.</summary>
    public IReadOnlyList<EventStoreDatabase> All { get; }

    public ShardMap Map { get; }

    /// <summary>Creates the tables that are missing; a new store has all shards in the first database. Of several
    /// databases, one that cannot be used holds up no others: its shards wait until it can.</summary>
    /// <exception cref="StartupException">No database can be used, or tables or shards cannot be created, or two
    /// databases hold the same shards.</exception>
    public async Task EnsureAsync(CancellationToken cancellationToken)
    {
        var ensuring = All.Select(database => FailureAsync(database, cancellationToken)).ToList();
        while (!ensuring.Exists(IsUsable) && ensuring.FindAll(task => !task.IsCompleted) is { Count: > 0 } pending)
        {
            await Task.WhenAny(pending);
        }
        await Task.WhenAny(Task.WhenAll(ensuring), Task.Delay(LateMax, _time, cancellationToken));
        if (ensuring.TrueForAll(task => task.IsCompleted && !IsUsable(task)))
        {
            throw (await ensuring[0])!;
        }
        await Map.RefreshAsync();
        if (Map.Conflict is var (shard, one, other))
        {
            throw new StartupException(
                $"Billing:EventStore:Databases: {All[one].Name} and {All[other].Name} both hold shard {shard} as "
                    + "in a new store; "
                + "see docs/operations/scale.md, Several databases.");
        }
        if (Enumerable.Range(0, Shard.Count).All(shard => Map.Find(shard) == ShardMap.Nowhere))
        {
            await BeginAsync(await Task.WhenAll(ensuring), cancellationToken);
            await Map.RefreshAsync();
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        foreach (var database in All)
        {
            await database.DisposeAsync();
        }
    }

    private static bool IsUsable(Task<StartupException?> ensuring) =>
        ensuring is { IsCompletedSuccessfully: true, Result: null };

    private async Task<StartupException?> FailureAsync(EventStoreDatabase database, CancellationToken cancellationToken)
    {
        try
        {
            await database.Schema.EnsureAsync(cancellationToken);
            return null;
        }
        catch (StartupException e)
        {
            if (All.Count > 1)
            {
                Unusable(database.Name, e.Message);
            }
            return e;
        }
    }

    // A database that has ever held a shard knows, so only a new store has none anywhere.
    private async Task BeginAsync(StartupException?[] failures, CancellationToken cancellationToken)
    {
        if (Array.Find(failures, failure => failure is not null) is { } failure)
        {
            throw new StartupException(
                $"No database that answers holds a shard, so all databases have to answer: {failure.Message}", failure);
        }
        for (var start = _time.GetTimestamp(); ;)
        {
            try
            {
                await BeginAsync(cancellationToken);
                return;
            }
            catch (NpgsqlException e) when (IsPassing(e) && _time.GetElapsedTime(start) < All[0].Settings.StartTimeout)
            {
                await Task.Delay(TryAgainDelay, _time, cancellationToken);
            }
            catch (NpgsqlException e)
            {
                throw new StartupException(
                    "Billing:EventStore: the shards of a new store could not be created; "
                        + $"run billing schema as the owner of the tables: {e.Message}", e);
            }
        }
    }

    private async Task BeginAsync(CancellationToken cancellationToken)
    {
        if (await AreHeldAsync(cancellationToken) is { } areHeld)
        {
            if (!areHeld)
            {
                throw new StartupException("Billing:EventStore:Databases lacks the databases that hold the shards.");
            }
            // Another service has begun the store meanwhile, or a slow database has answered.
            return;
        }
        await All[0].Servers.UseAsync(
            async (primary, token) =>
            {
                await using var insert = primary.CreateCommand($"""
                    insert into {EventStoreSchema.ShardsHere(All[0].Settings.Schema)} (number, epoch, is_held)
                    select number, 1, true from generate_series(0, {Shard.Count - 1}) as number on conflict do nothing
                    """);
                return await insert.ExecuteNonQueryAsync(token);
            },
            cancellationToken);
    }

    // What a server that is no longer the primary, or not yet, may answer: the tables, which are there by now,
    // may not have reached it.
    private static bool IsPassing(NpgsqlException failure) => failure.IsTransient
        || failure is not PostgresException
        || failure is PostgresException
        {
            SqlState: PostgresErrorCodes.ReadOnlySqlTransaction
            or PostgresErrorCodes.UndefinedTable
        };

    // Whether a database holds a shard; null if none has ever held one.
    private async Task<bool?> AreHeldAsync(CancellationToken cancellationToken)
    {
        bool? areHeld = null;
        foreach (var database in All)
        {
            var known = await database.Servers.UseAsync(
                async (primary, token) =>
                {
                    await using var question = primary.CreateCommand(
                        $"select bool_or(is_held) from {EventStoreSchema.ShardsHere(database.Settings.Schema)}");
                    return await question.ExecuteScalarAsync(token);
                },
                cancellationToken);
            if (known is bool here)
            {
                areHeld = here || areHeld is true;
            }
        }
        return areHeld;
    }

    [LoggerMessage(
        260, LogLevel.Error,
        "The database {Name} of the event store cannot be used; its shards wait until it can: {Reason}")]
    private partial void Unusable(string name, string reason);
}
