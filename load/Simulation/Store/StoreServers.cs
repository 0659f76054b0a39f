using Billing.Backends.EventStore;

namespace Billing.Simulation.Store;

/// <summary>The databases of the event store, and the operator who moves shards between them.</summary>
internal sealed class StoreServers
{
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(100);

    private readonly Scheduler _scheduler;
    private readonly Random _moves;

    /// <param name="scheduler">The simulated time.</param>
    /// <param name="dice">For what the databases do.</param>
    /// <param name="count">Number of databases.</param>
    /// <param name="seed">For the moves, which leave the dice alone.</param>
    public StoreServers(Scheduler scheduler, Dice dice, int count, int seed)
    {
        (_scheduler, _moves) = (scheduler, new Random(seed));
        All = [.. Enumerable.Range(0, count).Select(place => new StoreServer(
            scheduler, dice, History, Enumerable.Range(0, Shard.Count).Where(shard => shard % count == place)))];
    }

    public IReadOnlyList<StoreServer> All { get; }

    public StoreHistory History { get; } = new();

    /// <summary>The database that a fault happens to.</summary>
    public StoreServer Of(int target) => All[target % All.Count];

    /// <summary>Damages the disks under the events of an account.</summary>
    public void Damage(string streamId, long until)
    {
        foreach (var database in All)
        {
            database.Damaged = (streamId, until);
        }
    }

    /// <summary>Moves shards of accounts between the databases, at random times.</summary>
    public void MoveShards(IReadOnlyList<string> accounts, TimeSpan until)
    {
        var count = All.Count == 1 ? 0 : _moves.Next(6);
        for (var i = 0; i < count; i++)
        {
            var (shard, to) = (Shard.Of(accounts[_moves.Next(accounts.Count)]), All[_moves.Next(All.Count)]);
            _scheduler.At((long)(_moves.NextDouble() * until.Ticks), new Due(null, () => Close(shard, to)));
        }
    }

    // Transactions that are under way keep the shard from being closed.
    private void Close(int shard, StoreServer to)
    {
        var from = All.FirstOrDefault(database => database.Holds(shard));
        if (from is null || from == to)
        {
            return;
        }
        if (!from.CanChangeShards)
        {
            _scheduler.After(RetryDelay, null, () => Close(shard, to));
            return;
        }
        var epoch = from.Release(shard);
        // What is left to copy takes some time.
        _scheduler.After(TimeSpan.FromMilliseconds(_moves.Next(1, 1000)), null, () => Open(shard, epoch + 1, to));
    }

    private void Open(int shard, long epoch, StoreServer to)
    {
        if (to.CanChangeShards)
        {
            to.Take(shard, epoch);
        }
        else
        {
            _scheduler.After(RetryDelay, null, () => Open(shard, epoch, to));
        }
    }
}
