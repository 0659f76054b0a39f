using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Npgsql;

namespace Billing.Simulation.Store;

/// <summary>The operator of the event store, who moves shards between its databases by a command. A command that was
/// killed or has failed is started again, or another one moves the shard back, until the shard is where
/// it was to go last.</summary>
/// <param name="scheduler">The simulated time.</param>
/// <param name="databases">The databases.</param>
/// <param name="seed">For the moves, which leave the dice of the run alone.</param>
internal sealed class StoreOperator(Scheduler scheduler, IReadOnlyList<StoreServer> databases, int seed)
{
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(300);

    private readonly Random _dice = new(seed);
    private readonly Dictionary<int, Move> _moves = [];
    private int _commands;

    /// <summary>Called with what commands do, for a trace.</summary>
    public Action<string, string>? Traced { get; set; }

    /// <summary>Why a command has ended as no command may; null if none has.</summary>
    public string? Failure { get; private set; }

    /// <summary>What is still to be moved, and why the last attempt has failed.</summary>
    public IEnumerable<string> Unfinished => _moves.Values.Select(
        move => $"shard {move.Shard} is still being moved to {move.To.Name}: {move.Failure}");

    /// <summary>The number under which a database holds a shard, be it closed for a move; 0 if it does not. The one
    /// with the highest number is right.</summary>
    public static long EpochIn(StoreServer database, int shard) =>
        database.Tables.Shards.GetValueOrDefault(shard) is { IsHeld: true } row ? row.Epoch : 0;

    /// <summary>Moves shards of accounts at random times.</summary>
    public void MoveSome(IReadOnlyList<string> accounts, TimeSpan until)
    {
        var count = databases.Count == 1 ? 0 : _dice.Next(6);
        for (var i = 0; i < count; i++)
        {
            var (shard, to) = (Shard.Of(accounts[_dice.Next(accounts.Count)]), databases[_dice.Next(databases.Count)]);
            var kills = _dice.Next(3) == 0;
            scheduler.At((long)(_dice.NextDouble() * until.Ticks), new Due(null, () => Begin(shard, to, kills)));
        }
    }

    /// <summary>Moves a shard to another database and back, again and again.</summary>
    public void Shuttle(int shard, long until)
    {
        if (scheduler.Now >= until || databases.Count == 1)
        {
            return;
        }
        if (!_moves.ContainsKey(shard))
        {
            var place = Enumerable.Range(0, databases.Count).MaxBy(place => EpochIn(databases[place], shard));
            Begin(shard, databases[(place + 1) % databases.Count], kills: false);
        }
        scheduler.After(TimeSpan.FromMilliseconds(_dice.Next(20, 400)), null, () => Shuttle(shard, until));
    }

    /// <summary>Moves a shard.</summary>
    /// <param name="shard">The shard.</param>
    /// <param name="to">Where it is to go.</param>
    /// <param name="kills">Whether the command is killed on its way.</param>
    public void Begin(int shard, StoreServer to, bool kills)
    {
        if (_moves.TryGetValue(shard, out var former))
        {
            former.Node.Crash();
        }
        var node = new Node($"move-{_commands++}", scheduler)
        {
            Failed = failed => Failure ??= $"{failed.Name}: {failed.Failure}",
        };
        _moves[shard] = new Move(shard, to, node);
        if (kills)
        {
            // Half of them while the shard is closed.
            var steps = _dice.Next(1, 40);
            if (_dice.Next(2) == 0)
            {
                node.AtStep(steps, () => Kill(shard, node));
            }
            else
            {
                _moves[shard].Closed = () => node.AtStep(1 + (steps / 4), () => Kill(shard, node));
            }
        }
        node.Run(() => node.Supervisor.Watch("move", RunAsync(_moves[shard])));
    }

    /// <summary>Kills all commands, and starts them again after a while.</summary>
    public void StopAll()
    {
        foreach (var move in _moves.Values.ToList())
        {
            Kill(move.Shard, move.Node);
        }
    }

    /// <summary>Completes the moves that were under way at the time to which the databases were restored.</summary>
    public void Resume()
    {
        foreach (var database in databases)
        {
            foreach (var (shard, row) in database.Tables.Shards.Where(shard =>
                shard.Value is { IsHeld: true, MovingTo: not null }).ToList())
            {
                if (!_moves.ContainsKey(shard))
                {
                    var to = databases.Single(other => other.Name == row.MovingTo);
                    scheduler.After(TimeSpan.FromMilliseconds(_dice.Next(50, 2000)), null, () => Resume(shard, to));
                }
            }
        }
    }

    private void Resume(int shard, StoreServer to)
    {
        if (!_moves.ContainsKey(shard))
        {
            Begin(shard, to, kills: false);
        }
    }

    // Whoever finds it interrupted completes it, or wants the shard where it was.
    private void Kill(int shard, Node node)
    {
        node.Crash();
        Traced?.Invoke(node.Name, "is killed");
        scheduler.After(TimeSpan.FromMilliseconds(_dice.Next(50, 2000)), null, () =>
        {
            if (_moves.TryGetValue(shard, out var move) && move.Node == node)
            {
                Begin(
                    shard, _dice.Next(2) == 0 ? move.To : databases[_dice.Next(databases.Count)],
                    kills: _dice.Next(3) == 0);
            }
        });
    }

    private async Task RunAsync(Move move)
    {
        while (true)
        {
            try
            {
                await TryAsync(move);
                _moves.Remove(move.Shard);
                Traced?.Invoke(move.Node.Name, $"ends; shard {move.Shard} is in {move.To.Name}");
                return;
            }
            catch (Exception e) when (e is NpgsqlException or StoreCopyException)
            {
                move.Failure = e.Message;
                Traced?.Invoke(move.Node.Name, e.Message);
            }
            finally
            {
                foreach (var database in databases)
                {
                    database.Unlock(move.Shard, move.Node);
                }
            }
            await Task.Delay(RetryDelay, move.Node.Time);
        }
    }

    private async Task TryAsync(Move move)
    {
        var (node, shard) = (move.Node, move.Shard);
        var (from, movingTo) = await HolderAsync(node, shard);
        if (movingTo is { } name)
        {
            Traced?.Invoke(node.Name, $"opens shard {shard} in {from.Name} again");
            await new ShardMover(node, from, databases.Single(database => database.Name == name), shard).UndoAsync();
        }
        if (from != move.To)
        {
            Traced?.Invoke(node.Name, $"moves shard {shard} from {from.Name} to {move.To.Name}");
            await new ShardMover(node, from, move.To, shard) { Closed = move.Closed }.RunAsync();
            return;
        }
        foreach (var former in databases.Where(database => database != from))
        {
            await new ShardMover(node, former, from, shard).CleanAsync();
        }
        if (await HolderAsync(node, shard) != (from, null))
        {
            await TryAsync(move);
        }
    }

    private async Task<(StoreServer Database, string? MovingTo)> HolderAsync(Node node, int shard)
    {
        var holders = new List<(StoreServer Database, ShardRow Row)>();
        foreach (var database in databases)
        {
            var read = new StoreRequest(Writes: false);
            if (await database.AskAsync(node, read, t => t.Shards.GetValueOrDefault(shard)) is { IsHeld: true } row)
            {
                holders.Add((database, row));
            }
        }
        return holders.OrderByDescending(holder => holder.Row.Epoch)
            .Select(holder => (holder.Database, holder.Row.MovingTo)).FirstOrDefault() is (not null, _) and var found
            ? found
            : throw new StoreCopyException($"No database holds shard {shard}: name all databases.");
    }

    private sealed class Move(int shard, StoreServer to, Node node)
    {
        public int Shard => shard;

        public StoreServer To => to;

        public Node Node => node;

        public Action? Closed { get; set; }

        public string Failure { get; set; } = "it has not ended";
    }
}
