using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Npgsql;

namespace Billing.Simulation.Store;

/// <summary>A model of <see cref="ShardMove"/> and <see cref="ShardCopy"/>: the same steps over two databases, each of
/// which is one statement or one transaction. Its process may be killed between any two of them.</summary>
/// <param name="node">The process of the operator's command.</param>
/// <param name="from">The database that holds the shard.</param>
/// <param name="to">The other one.</param>
/// <param name="shard">The shard.</param>
internal sealed class ShardMover(Node node, StoreServer from, StoreServer to, int shard)
{
    // So few that short runs take several passes, and each of them several statements.
    private const int RestMax = 2;
    private const int PassesMax = 20;
    private const int BatchMax = 5;
    private const int CloseAttempts = 60;

    private static readonly TimeSpan CloseDelay = TimeSpan.FromMilliseconds(500);

    private readonly StoreRequest _read = new(Writes: false) { Moves = shard };
    private readonly StoreRequest _write = new(Writes: true) { Moves = shard };
    private readonly StoreRequest _change = new(Writes: true) { Moves = shard, ChangesShards = true };

    /// <summary>Called when the shard is closed.</summary>
    public Action? Closed { get; init; }

    /// <summary>Moves the shard.</summary>
    /// <exception cref="StoreCopyException">It cannot be moved.</exception>
    public async Task RunAsync()
    {
        await BeginAsync();
        if (!await to.AskAsync(node, _read, t => t.Shards.GetValueOrDefault(shard) is { IsHeld: true }))
        {
            await DeleteCopyAsync(of: to, holder: from, onlyDifferent: true);
        }
        var after = await WithoutAppendsAsync(_ => { });
        await CopyAccountsAsync(after);
        for (var (pass, copied) = (1, int.MaxValue); copied > RestMax && pass <= PassesMax; pass++)
        {
            var last = await WithoutAppendsAsync(_ => { });
            copied = await CopyEventsAsync(after, last);
            after = last;
        }
        await CopyRestAsync(after);
        await DeleteAsync();
    }

    private async Task BeginAsync()
    {
        await LockAsync();
        if (!await from.AskAsync(
            node, _read, t => t.Shards.GetValueOrDefault(shard) is { IsHeld: true, MovingTo: null }))
        {
            throw new StoreCopyException($"The database {from.Name} does not hold shard {shard} any more.");
        }
        if (await to.AskAsync(node, _read, t => t.Shards.GetValueOrDefault(shard)) is { Epoch: var seen })
        {
            await ChangeAsync(from, row => row.Epoch <= seen ? row with { Epoch = seen + 1 } : row);
        }
    }

    // A move that is refused, and not cut off, opens the shard again.
    private async Task CopyRestAsync(long after)
    {
        try
        {
            var end = await WithoutAppendsAsync(t => t.Shards[shard] = t.Shards[shard] with { MovingTo = to.Name });
            Closed?.Invoke();
            await CopyEventsAsync(after, end);
            await CopyHoldsAsync();
            await SwitchAsync();
        }
        catch (Exception e) when (e is StoreCopyException or PostgresException)
        {
            if (await ClosedEpochOrNullAsync() is { } epoch)
            {
                await TryOpenAgainAsync(epoch);
            }
            throw;
        }
    }

    /// <summary>Opens the shard again where it was, after a move that was interrupted.</summary>
    public async Task UndoAsync()
    {
        await LockAsync();
        if (!await TryOpenAgainAsync(await ClosedEpochAsync()))
        {
            throw new StoreCopyException(
                $"The database {to.Name} holds shard {shard} already: move it there to complete that.");
        }
        Points.Reach(Points.MoveUndone);
    }

    // Returns false if the other database holds it already. One that holds it under a former number was restored to a
    // time before a move.
    private async Task<bool> TryOpenAgainAsync(long epoch)
    {
        if (!await to.AskAsync(node, _write, t =>
        {
            var known = t.Shards.GetValueOrDefault(shard);
            if (known is { IsHeld: true } && known.Epoch >= epoch)
            {
                return false;
            }
            t.Shards[shard] = new ShardRow(
                Math.Max(known?.Epoch ?? 0, epoch + 1), false, known is { IsHeld: true } ? from.Name : known?.MovingTo);
            return true;
        }))
        {
            return false;
        }
        await ChangeAsync(from, row => row with { Epoch = epoch + 2, MovingTo = null });
        return true;
    }

    /// <summary>Deletes what interrupted moves have left in the database that held the shard,
    /// or was to hold it.</summary>
    public async Task CleanAsync()
    {
        await LockAsync();
        if (await from.AskAsync(node, _write, t =>
        {
            if (t.Shards.GetValueOrDefault(shard) is not { } row || (!row.IsHeld && row.MovingTo is null))
            {
                return false;
            }
            t.Shards[shard] = row with { IsHeld = false, MovingTo = to.Name };
            return true;
        }))
        {
            await DeleteAsync();
            Points.Reach(Points.MoveCleaned);
        }
        else
        {
            await DeleteCopyAsync(of: from, holder: to, onlyDifferent: false);
        }
    }

    // Keeps other moves of the shard away for as long as the process lives, or until it has ended its sessions.
    private async Task LockAsync()
    {
        foreach (var database in (StoreServer[])[from, to])
        {
            if (!await database.AskAsync(node, _read, _ => database.TryLock(shard, node)))
            {
                throw new StoreCopyException($"Shard {shard} is being moved already.");
            }
        }
    }

    // Waits until no append is under way, does something, and returns the last sequence number by then.
    private async Task<long> WithoutAppendsAsync(Action<Tables> action)
    {
        for (var attempt = 1; ; attempt++)
        {
            var last = await from.AskAsync(node, _change, t =>
            {
                if (from.IsAppending)
                {
                    return -1;
                }
                action(t);
                return t.LastSequence;
            });
            if (last >= 0)
            {
                return last;
            }
            if (attempt == CloseAttempts)
            {
                throw new StoreCopyException("Appends do not end.");
            }
            await Task.Delay(CloseDelay, node.Time);
        }
    }

    private async Task CopyAccountsAsync(long upTo)
    {
        foreach (var streamId in await StreamsAsync(from))
        {
            await CopyStreamAsync(streamId);
            await WriteAllAsync(t => t.Stream(streamId), upTo);
        }
        await WriteAllAsync(TombstonesOf, upTo);
    }

    private Task<List<string>> StreamsAsync(StoreServer database) => database.AskAsync(
        node, _read, t => t.Streams.Keys.Where(id => Shard.Of(id) == shard).ToList());

    private async Task WriteAllAsync(Func<Tables, IEnumerable<EventRow>> rows, long upTo)
    {
        var read = await from.AskAsync(node, _read, t => rows(t).Where(row => row.Sequence <= upTo).ToList());
        foreach (var batch in read.Chunk(BatchMax))
        {
            await WriteAsync(batch);
        }
    }

    private async Task<int> CopyEventsAsync(long after, long upTo)
    {
        for (var copied = 0; ;)
        {
            var rows = await from.AskAsync(node, _read, t => t.Events
                .Where(row => row.Shard == shard && row.Sequence > after && row.Sequence <= upTo)
                    .Take(BatchMax).ToList());
            if (rows.Count == 0)
            {
                return copied;
            }
            foreach (var streamId in rows.Where(row => row.Event is not null).Select(row => row.StreamId)
                .Distinct(StringComparer.Ordinal))
            {
                await CopyStreamAsync(streamId);
            }
            await WriteAsync(rows);
            (copied, after) = (copied + rows.Count, rows[^1].Sequence);
        }
    }

    private async Task CopyStreamAsync(string streamId)
    {
        var version = await from.AskAsync(node, _read, t => t.Streams[streamId]);
        await to.AskAsync(node, _write, t => t.Streams[streamId] = version);
    }

    // One statement; what is there already under its id is left, and compared.
    private async Task WriteAsync(IReadOnlyList<EventRow> rows)
    {
        await to.AskAsync(node, _write, t =>
        {
            var copies = rows.Where(row => t.Find(row.Id) is null).Select(row => row.Copy(t.NextSequence())).ToList();
            foreach (var copy in copies)
            {
                if (t.Violation(copy.Id, copy.StreamId, copy.Version) is { } violation)
                {
                    throw new StoreCopyException(
                        $"'{to.Name}' has other events of shard {shard} than '{from.Name}': "
                        + $"{violation}, {copy.StreamId}@{copy.Version}");
                }
            }
            copies.ForEach(t.Insert);
            if (copies.Exists(copy => copy.Event is null))
            {
                Points.Reach(Points.ClosedCommandMoved);
            }
            return true;
        });
        await CompareAsync(rows);
    }

    private async Task CompareAsync(IReadOnlyList<EventRow> rows)
    {
        var different = await to.AskAsync(
            node, _read, t => rows.FirstOrDefault(row => t.Find(row.Id) is not { } copy || !row.IsCopyOf(copy)));
        if (different is not null)
        {
            throw new StoreCopyException(
                $"A row of mt_events in '{to.Name}' is not as it is in '{from.Name}': "
                + $"{different.StreamId}@{different.Version}");
        }
    }

    private async Task CopyHoldsAsync()
    {
        await DeleteHoldsAsync(to);
        var holds = await from.AskAsync(
            node, _read, t => t.OpenHolds.Where(hold => Shard.Of(hold.Key.StreamId) == shard).ToList());
        foreach (var batch in holds.Chunk(BatchMax))
        {
            await to.AskAsync(node, _write, t =>
            {
                if (Array.Exists(batch, hold => t.OpenHolds.ContainsKey(hold.Key)))
                {
                    throw new StoreCopyException(
                        $"'{to.Name}' takes no rows of {EventStoreSchema.OpenHoldsTable} as they are in '{from.Name}'");
                }
                Array.ForEach(batch, hold => t.OpenHolds.Add(hold.Key, hold.Value with { TakenAt = null }));
                Points.Reach(Points.HoldMoved);
                return true;
            });
        }
    }

    private async Task SwitchAsync()
    {
        var epoch = await ClosedEpochAsync();
        if (!await to.AskAsync(node, _write, t =>
        {
            if (t.Shards.GetValueOrDefault(shard) is { } known && known.Epoch > epoch)
            {
                return false;
            }
            t.Shards[shard] = new ShardRow(epoch + 1, true, null);
            return true;
        }))
        {
            throw new StoreCopyException($"Shard {shard} has been in {to.Name} under a later number: move it again.");
        }
        await ChangeAsync(from, row => row with { IsHeld = false, Epoch = epoch + 1 });
    }

    private async Task DeleteAsync()
    {
        foreach (var streamId in await StreamsAsync(from))
        {
            await DeleteAsync(t => t.Stream(streamId));
            await from.AskAsync(node, _write, t => t.Streams.Remove(streamId));
        }
        await DeleteAsync(TombstonesOf);
        await DeleteHoldsAsync(from);
        await ChangeAsync(from, row => row with { MovingTo = null });
    }

    private async Task DeleteAsync(Func<Tables, IEnumerable<EventRow>> rows)
    {
        var left = await from.AskAsync(node, _read, t => rows(t).ToList());
        await CompareAsync(left);
        await DeleteAsync(from, left);
    }

    private Task<bool> DeleteAsync(StoreServer database, List<EventRow> left) => database.AskAsync(node, _write, t =>
    {
        t.Delete(left.Where(row => ReferenceEquals(t.Find(row.Id), row)).ToHashSet());
        return true;
    });

    // Deletes what moves that were given up have copied, or what of it is not so in the database that holds the shard.
    private async Task DeleteCopyAsync(StoreServer of, StoreServer holder, bool onlyDifferent)
    {
        foreach (var streamId in await StreamsAsync(of))
        {
            await DeleteCopyAsync(of, holder, t => t.Stream(streamId), onlyDifferent);
            if (!onlyDifferent || !await holder.AskAsync(node, _read, t => t.Streams.ContainsKey(streamId)))
            {
                await of.AskAsync(node, _write, t => t.Streams.Remove(streamId));
            }
        }
        await DeleteCopyAsync(of, holder, TombstonesOf, onlyDifferent);
        await DeleteHoldsAsync(of);
    }

    private async Task DeleteCopyAsync(
        StoreServer of, StoreServer holder, Func<Tables, IEnumerable<EventRow>> rows, bool onlyDifferent)
    {
        var copies = await of.AskAsync(node, _read, t => rows(t).ToList());
        if (onlyDifferent)
        {
            copies = await holder.AskAsync(
                node, _read, t => copies.FindAll(copy => t.Find(copy.Id) is not { } row || !copy.IsCopyOf(row)));
        }
        if (copies.Count > 0)
        {
            Points.Reach(Points.CopyDeleted);
        }
        await DeleteAsync(of, copies);
    }

    private Task<bool> DeleteHoldsAsync(StoreServer database) => database.AskAsync(node, _write, t =>
    {
        foreach (var id in t.OpenHolds.Keys.Where(id => Shard.Of(id.StreamId) == shard).ToList())
        {
            t.OpenHolds.Remove(id);
        }
        return true;
    });

    private IEnumerable<EventRow> TombstonesOf(Tables tables) =>
        tables.Stream(EventTypes.TombstoneStream).Where(row => row.Shard == shard);

    private Task<ShardRow> ChangeAsync(StoreServer database, Func<ShardRow, ShardRow> change) =>
        database.AskAsync(node, _write, t => t.Shards[shard] = change(t.Shards[shard]));

    private async Task<long> ClosedEpochAsync() => await ClosedEpochOrNullAsync()
        ?? throw new StoreCopyException($"Shard {shard} was moved by somebody else meanwhile.");

    private Task<long?> ClosedEpochOrNullAsync() => from.AskAsync(node, _read, t =>
        t.Shards.GetValueOrDefault(shard) is { IsHeld: true } row && row.MovingTo == to.Name ? row.Epoch : (long?)null);
}
