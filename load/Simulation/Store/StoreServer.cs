using Billing.Backends.EventStore;
using Billing.Hosting;
using Npgsql;

namespace Billing.Simulation.Store;

/// <summary>A model of a server with one database of the event store, and the ways in which PostgreSQL may fail. A
/// request continues in the store even if the process that sent it has crashed.</summary>
internal sealed class StoreServer
{
    // As in the settings of the sessions.

    // Deadlocks, no connection to be had, a full disk.
    private static readonly string[] Busy =
    [
        PostgresErrorCodes.DeadlockDetected, PostgresErrorCodes.TooManyConnections, PostgresErrorCodes.DiskFull,
    ];

    // By then a primary whose standby has gone waits with every commit.
    private static readonly TimeSpan FailoverBegins = TimeSpan.FromMilliseconds(200);

    private readonly Scheduler _scheduler;
    private readonly Dice _dice;
    private readonly StoreHistory _history;
    private readonly List<(StoreRequest Request, Action<bool> End)> _stalled = [];
    private readonly Dictionary<int, Node> _locks = [];
    private readonly List<int> _moving = [];
    private int _incarnation;

    /// <param name="scheduler">The simulated time.</param>
    /// <param name="dice">For what happens.</param>
    /// <param name="history">The books.</param>
    /// <param name="name">The name of the database.</param>
    /// <param name="shards">The shards that it holds at first.</param>
    public StoreServer(Scheduler scheduler, Dice dice, StoreHistory history, string name, IEnumerable<int> shards)
    {
        (_scheduler, _dice, _history, Name) = (scheduler, dice, history, name);
        foreach (var shard in shards)
        {
            Tables.Shards[shard] = new ShardRow(1, true, null);
        }
        Statements = new Statements(Tables, history);
    }

    public string Name { get; }

    /// <summary>Its tables as they are committed.</summary>
    public Tables Tables { get; private set; } = new();

    /// <summary>What backends say to it.</summary>
    public Statements Statements { get; private set; }

    public long AwayUntil { get; set; }

    public long ReadOnlyUntil { get; set; }

    /// <summary>Until when half of the writes break their connection, before or after the commit.</summary>
    public long UnsureUntil { get; set; }

    /// <summary>Until when every request takes up to two seconds.</summary>
    public long SlowUntil { get; set; }

    /// <summary>Until when half of the requests fail because of what others do: deadlocks, too many connections, a
    /// full disk.</summary>
    public long BusyUntil { get; set; }

    /// <summary>For how long a commit that stalls keeps its locks, at most, in milliseconds.</summary>
    public const int LongestStallMs = 8000;

    /// <summary>Until when half of the commits stall: their connections break, and much later they take effect, or are
    /// rolled back.
    /// </summary>
    public long StallUntil { get; set; }

    /// <summary>By how much its clock is ahead.</summary>
    public TimeSpan ClockAhead { get; set; }

    /// <summary>An account under whose events the disk is damaged, and until when.</summary>
    public (string StreamId, long Until) Damaged { get; set; } = ("", 0);

    /// <summary>Until when the disk is damaged under a part of the receipts.</summary>
    public long ReceiptsDamagedUntil { get; set; }

    /// <summary>Tells a process what its clock shows.</summary>
    public void TellTime(SteadyTime time)
    {
        var now = time.GetTimestamp();
        time.Hear("database " + Name, Time, TimeSpan.FromMicroseconds(1), now, now);
    }

    /// <summary>The moment of the run.</summary>
    public long Now => _scheduler.Now;

    /// <summary>Its time.</summary>
    public DateTimeOffset Time => Node.TimeOf(_scheduler.Now) + ClockAhead;

    /// <summary>Whether a transaction is under way that keeps the shards from being changed.</summary>
    public bool IsAppending => _stalled.Exists(stalled => stalled.Request.KeepsShards);

    /// <summary>Whether a transaction under way holds the rows of an account.</summary>
    public bool IsLocked(string streamId) => _stalled.Exists(stalled => stalled.Request.Streams.Contains(streamId));

    /// <summary>Takes the lock for which moves of a shard compete.</summary>
    public bool TryLock(int shard, Node node)
    {
        // A session keeps its locks until it has executed what was sent, whatever has become of its process.
        if ((_locks.TryGetValue(shard, out var owner) && owner != node && owner.IsAlive)
            || _moving.Contains(shard) || _stalled.Exists(stalled => stalled.Request.Moves == shard))
        {
            return false;
        }
        _locks[shard] = node;
        return true;
    }

    /// <summary>Ends the session of a move.</summary>
    public void Unlock(int shard, Node node)
    {
        if (_locks.GetValueOrDefault(shard) == node)
        {
            _locks.Remove(shard);
        }
    }

    /// <summary>Its standby takes over: what was acknowledged is there, and of the rest a part.</summary>
    public void FailOver(TimeSpan time)
    {
        StallUntil = _scheduler.Now + FailoverBegins.Ticks;
        _scheduler.After(FailoverBegins, null, () =>
        {
            AwayUntil = _scheduler.Now + time.Ticks;
            foreach (var stalled in _stalled.ToList())
            {
                var isKept = _dice.Chance(0.5);
                Points.Reach(isKept ? Points.UnacknowledgedKept : Points.UnacknowledgedLost);
                stalled.End(isKept);
            }
        });
    }

    /// <summary>It is restored to an earlier time: whatever is under way is gone.</summary>
    public void Restore(Tables tables)
    {
        _incarnation++;
        _stalled.Clear();
        _locks.Clear();
        Tables = tables.Copy();
        Statements = new Statements(Tables, _history);
    }

    /// <summary>Executes a request of a process, with a random latency in each direction.</summary>
    public Task<T> AskAsync<T>(Node node, StoreRequest request, Func<Tables, T> work)
    {
        var answer = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        void Answer(T? result, Exception? failure) => _scheduler.After(Delay(), node, () =>
        {
            // A request may have come through before the cut, and its answer not.
            if (failure is null && !node.ToStore.IsCut)
            {
                answer.SetResult(result!);
            }
            else
            {
                answer.SetException(failure ?? Broken());
            }
        });
        var incarnation = _incarnation;
        if (node.ToStore.IsCut)
        {
            Answer(default, Broken());
        }
        else
        {
            if (request.Moves is { } moved)
            {
                _moving.Add(moved);
            }
            _scheduler.After(Delay(), null, () =>
            {
                if (request.Moves is { } arrived)
                {
                    _moving.Remove(arrived);
                }
                Take(request, incarnation, work, Answer, _scheduler.Now + StoreTimes.Lock.Ticks);
            });
        }
        return answer.Task;
    }

    // Waits for the transactions that hold what the request needs.
    private void Take<T>(
        StoreRequest request, int incarnation, Func<Tables, T> work, Action<T?, Exception?> answer, long patience)
    {
        if (incarnation != _incarnation)
        {
            answer(default, Broken());
            return;
        }
        if (_stalled.Find(stalled => request.WaitsFor(stalled.Request)).Request is { } holder)
        {
            if (holder.EndsAt > patience)
            {
                _scheduler.At(
                    patience,
                    new Due(null, () => answer(default, Refused("locked", PostgresErrorCodes.LockNotAvailable))));
                return;
            }
            _scheduler.At(
                holder.EndsAt, new Due(null, () => Take(request, incarnation, work, answer, patience)));
            return;
        }
        if (request.Writes && !request.ChangesShards && StallUntil > _scheduler.Now && AwayUntil <= _scheduler.Now
            && _dice.Chance(0.5))
        {
            answer(default, Broken());
            Stall(request, work);
            return;
        }
        try
        {
            answer(Do(request, work), null);
        }
        catch (NpgsqlException e)
        {
            answer(default, e);
        }
    }

    private void Stall<T>(StoreRequest request, Func<Tables, T> work)
    {
        var stalled = request with { EndsAt = _scheduler.Now + _dice.UpTo(LongestStallMs).Ticks };
        void End(bool takesEffect)
        {
            if (_stalled.RemoveAll(other => ReferenceEquals(other.Request, stalled)) > 0 && takesEffect)
            {
                try
                {
                    work(Tables);
                }
                catch (NpgsqlException)
                {
                    // It is rolled back, and nobody is there to be told.
                }
            }
        }
        _stalled.Add((stalled, End));
        _scheduler.At(stalled.EndsAt, new Due(null, () => End(_dice.Chance(0.5) && AwayUntil <= _scheduler.Now)));
    }

    private T Do<T>(StoreRequest request, Func<Tables, T> work)
    {
        var (now, writes) = (_scheduler.Now, request.Writes);
        if (AwayUntil > now)
        {
            throw Broken();
        }
        if (writes && ReadOnlyUntil > now)
        {
            throw Refused("read only", PostgresErrorCodes.ReadOnlySqlTransaction);
        }
        if (BusyUntil > now && _dice.Chance(0.5))
        {
            throw Refused("busy", writes ? _dice.Pick(Busy) : PostgresErrorCodes.TooManyConnections);
        }
        if ((Damaged.Until > now && request.Streams.Contains(Damaged.StreamId))
            || (ReceiptsDamagedUntil > now && request.Receipts.Any(id => id.TransactionId.ToByteArray()[0] % 3 == 0)))
        {
            throw Refused("invalid page", PostgresErrorCodes.DataCorrupted);
        }
        var breaks = writes && UnsureUntil > now && _dice.Chance(0.5);
        if (breaks && _dice.Chance(0.5))
        {
            throw Broken();
        }
        var result = work(Tables);
        return breaks ? throw Broken() : result;
    }

    private TimeSpan Delay() => _dice.UpTo(SlowUntil > _scheduler.Now ? 1000 : 2);

    private static PostgresException Refused(string what, string state) => new(what, "ERROR", "ERROR", state);

    private static NpgsqlException Broken() => new("The connection broke.", new IOException());
}
