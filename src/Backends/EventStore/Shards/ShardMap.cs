using Npgsql;

namespace Billing.Backends.EventStore.Shards;

/// <summary>Which database each shard is in, as far as this process knows. The databases themselves know: what this
/// says may be out of date, and a database refuses to record what belongs elsewhere. Thread-safe.</summary>
internal sealed class ShardMap(IReadOnlyList<IAccountStore> databases, TimeProvider time)
{
    /// <summary>Stands for a database in <see cref="Find(int)"/>: no database that answers holds the shard, or several
    /// hold it under one number.</summary>
    public const int Nowhere = -1;

    // A database that has not answered by then keeps the shards that it held, and its answer counts once it is there.
    // Its question is not cut short: that ends a session, and a server that is too slow to answer would be too busy
    // with new sessions to answer the next one.
    private static readonly TimeSpan AskingMax = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private volatile (int Database, long Epoch)[] _holders = [.. Enumerable.Repeat((Nowhere, 0L), Shard.Count)];
    private readonly Task<IReadOnlyDictionary<int, long>?>?[] _questions =
        new Task<IReadOnlyDictionary<int, long>?>?[databases.Count];
    private Task _asking = Task.CompletedTask;

    /// <summary>The databases; elsewhere they are known by their index in this list.</summary>
    public IReadOnlyList<IAccountStore> Databases => databases;

    /// <summary>The database of a shard.</summary>
    public int Find(int shard) => _holders[shard].Database;

    /// <summary>The database of a shard, and the shard's epoch there: each move to another database and each restore
    /// raises it.</summary>
    public (int Database, long Epoch) HolderOf(int shard) => _holders[shard];

    /// <summary>The epoch of a shard when that was last asked. As long as a database holds the shard under that epoch,
    /// the shard has not been elsewhere since.</summary>
    public long EpochOf(int shard) => _holders[shard].Epoch;

    /// <summary>Forgets where shards are that turned out to be elsewhere.</summary>
    public void Forget(IReadOnlySet<int> shards)
    {
        lock (_gate)
        {
            _holders = [.. _holders.Select((holder, shard) => shards.Contains(shard) ? (Nowhere, 0L) : holder)];
        }
    }

    /// <summary>A shard that several databases hold under one number, and two of these;
    /// null if there is none.</summary>
    public (int Shard, int One, int Other)? Conflict { get; private set; }

    /// <summary>Asks all databases which shards they hold. Calls at the same time share the answers.</summary>
    public Task RefreshAsync()
    {
        lock (_gate)
        {
            return _asking.IsCompleted ? _asking = AskAsync() : _asking;
        }
    }

    private async Task AskAsync()
    {
        var answers = await Task.WhenAll(Enumerable.Range(0, databases.Count).Select(AskAsync));
        var (holders, former) = (new (int Database, long Epoch)[Shard.Count], _holders);
        (int, int, int)? conflict = null;
        for (var shard = 0; shard < Shard.Count; shard++)
        {
            holders[shard] = former[shard] is { Database: not Nowhere } known && answers[known.Database] is null
                ? known
                : (Nowhere, 0);
            var claims = (
                from database in Enumerable.Range(0, answers.Length)
                let epoch = answers[database]?.GetValueOrDefault(shard) ?? 0
                where epoch > 0
                orderby epoch descending
                select (Database: database, Epoch: epoch)).ToList();
            // One with a former number was restored to a time before a move. No two moves have the same number.
            if (claims is [var one, var other, ..] && one.Epoch == other.Epoch)
            {
                (holders[shard], conflict) = ((Nowhere, 0), (shard, one.Database, other.Database));
            }
            else if (claims is [var only, ..])
            {
                holders[shard] = only;
            }
        }
        (_holders, Conflict) = (holders, conflict);
    }

    private async Task<IReadOnlyDictionary<int, long>?> AskAsync(int database)
    {
        var question = _questions[database] ?? HeldAsync(databases[database]);
        _questions[database] = null;
        try
        {
            return await question.WaitAsync(AskingMax, time);
        }
        catch (TimeoutException)
        {
            _questions[database] = question;
            return null;
        }
    }

    // Null if it cannot be asked.
    private static async Task<IReadOnlyDictionary<int, long>?> HeldAsync(IAccountStore database)
    {
        try
        {
            return await database.HeldShardsAsync(CancellationToken.None);
        }
        catch (Exception e) when (e is NpgsqlException or TimeoutException)
        {
            return null;
        }
    }
}
