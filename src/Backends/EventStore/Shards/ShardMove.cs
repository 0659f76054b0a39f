using System.Data;
using System.Diagnostics;
using System.Globalization;
using Npgsql;

namespace Billing.Backends.EventStore.Shards;

/// <summary>Moves a shard from the database that holds it to another one while payments go on: copies it, copies
/// what has come meanwhile until that is little, closes it, copies the rest, opens it in the other database, and
/// deletes what is left. It can be started again after it was interrupted anywhere; no more than one database ever
/// takes appends of a shard, whatever happens: each change of its database has a number, and a database never opens
/// a shard under a number that it has seen. What a database has of a shard that it does not hold is only a copy,
/// which a move may delete.</summary>
internal sealed class ShardMove(EventStoreDatabase from, EventStoreDatabase to, int shard) : IAsyncDisposable
{
    // Together with the shard's number the key of the advisory lock that two moves of one shard compete for;
    // any constant will do.
    internal const int MoveLock = 0x42494C4D;

    // What remains to be copied while the shard is closed.
    private const int RestMax = 500;
    private const int PassesMax = 20;

    // Appends queue behind whoever waits to close a shard, so that waits briefly, and again later.
    private static readonly TimeSpan CloseDelay = TimeSpan.FromMilliseconds(500);
    private const int CloseAttempts = 60;

    private readonly NpgsqlConnection _from = Session(from);
    private readonly NpgsqlConnection _to = Session(to);
    private readonly string _fromShards = EventStoreSchema.ShardsHere(from.Settings.Schema);
    private readonly string _toShards = EventStoreSchema.ShardsHere(to.Settings.Schema);

    /// <summary>Moves it.</summary>
    /// <param name="report">Receives what is being done.</param>
    /// <param name="cancellationToken">Ends it; the shard may be closed then, until it is moved again.</param>
    /// <returns>The number of its events that were copied, and for how long its accounts had to wait.</returns>
    /// <exception cref="StoreCopyException">It cannot be moved; the message says why.</exception>
    /// <exception cref="NpgsqlException">A database failed; move it again.</exception>
    public Task<(int Events, TimeSpan Closed)> RunAsync(Action<string> report, CancellationToken cancellationToken) =>
        ConnectedAsync(() => MoveAsync(report, cancellationToken));

    private async Task<(int Events, TimeSpan Closed)> MoveAsync(
        Action<string> report, CancellationToken cancellationToken)
    {
        await BeginAsync(cancellationToken);
        var copy = Copy();
        report("copying accounts");
        if (!await IsHeldThereAsync(cancellationToken))
        {
            var back = new ShardCopy(_to, _from, to.Settings.Schema, from.Settings.Schema, shard);
            await back.DeleteCopyAsync(onlyDifferent: true, cancellationToken);
        }
        var after = await WithoutAppendsAsync("", cancellationToken);
        var events = await copy.CopyAccountsAsync(after, cancellationToken);
        for (var (pass, copied) = (1, int.MaxValue); copied > RestMax && pass <= PassesMax; pass++)
        {
            report(string.Create(CultureInfo.InvariantCulture, $"copying events, pass {pass}"));
            var last = await WithoutAppendsAsync("", cancellationToken);
            copied = await copy.CopyEventsAsync(after, last, cancellationToken);
            (after, events) = (last, events + copied);
        }
        report("closing it");
        await copy.CopyArchivedAsync(cancellationToken);
        var closed = Stopwatch.GetTimestamp();
        events += await CopyRestAsync(copy, after, cancellationToken);
        var wait = Stopwatch.GetElapsedTime(closed);
        report("deleting what is left");
        await DeleteAsync(copy, cancellationToken);
        return (events, wait);
    }

    // What is known while the sessions last need not wait for somebody to move the shard again.
    private async Task<int> CopyRestAsync(ShardCopy copy, long after, CancellationToken cancellationToken)
    {
        try
        {
            var end = await WithoutAppendsAsync(
                $"update {_fromShards} set moving_to = '{to.Name}' where number = {shard};", cancellationToken);
            var events = await copy.CopyEventsAsync(after, end, cancellationToken);
            await copy.CopyHoldsAsync(cancellationToken);
            await SwitchAsync(cancellationToken);
            return events;
        }
        catch (Exception e) when (e is StoreCopyException or PostgresException or OperationCanceledException
            && _from.State == ConnectionState.Open && _to.State == ConnectionState.Open)
        {
            if (await ClosedEpochOrNullAsync(CancellationToken.None) is { } epoch)
            {
                await TryOpenAgainAsync(epoch, CancellationToken.None);
            }
            throw;
        }
    }

    /// <summary>Opens a shard again that an interrupted move to the other database has closed: that one gets a number
    /// under which it can no longer open the shard, and this one opens it under the next.</summary>
    /// <param name="cancellationToken">Ends it; it can be started again.</param>
    public Task UndoAsync(CancellationToken cancellationToken) => ConnectedAsync(async () =>
    {
        await OpenAsync(cancellationToken);
        return await TryOpenAgainAsync(await ClosedEpochAsync(cancellationToken), cancellationToken)
            ? true
            : throw new StoreCopyException(
                $"The database {to.Name} holds shard {shard} already: move it there to complete that.");
    });

    // Returns false if the other database holds it already. One that holds it under a former number was restored to a
    // time before a move.
    private async Task<bool> TryOpenAgainAsync(long epoch, CancellationToken cancellationToken)
    {
        if (await ScalarAsync(_to, $"""
            insert into {_toShards} as known (number, epoch, is_held) values ({shard}, {epoch + 1}, false)
            on conflict (number) do update set
                epoch = greatest(known.epoch, excluded.epoch), is_held = false, moving_to = case
                    when known.is_held then '{from.Name}' else known.moving_to end
            where not known.is_held or known.epoch < {epoch}
            returning true
            """, cancellationToken) is not true)
        {
            return false;
        }
        await ExecuteAsync(
            _from, $"update {_fromShards} set moving_to = null, epoch = {epoch + 2} where number = {shard}",
            cancellationToken);
        return true;
    }

    /// <summary>Deletes what interrupted moves have left in the database that held the shard,
    /// or was to hold it.</summary>
    /// <param name="cancellationToken">Ends it; it can be started again.</param>
    /// <exception cref="StoreCopyException">Something is missing where the shard is now.</exception>
    public Task CleanAsync(CancellationToken cancellationToken) => ConnectedAsync(async () =>
    {
        await OpenAsync(cancellationToken);
        if (await ScalarAsync(_from, $"""
            update {_fromShards} set is_held = false, moving_to = '{to.Name}' where number = {shard}
                and (is_held or moving_to is not null) returning true
            """, cancellationToken) is true)
        {
            await DeleteAsync(Copy(), cancellationToken);
        }
        else
        {
            await Copy().DeleteCopyAsync(onlyDifferent: false, cancellationToken);
        }
        return true;
    });

    public async ValueTask DisposeAsync()
    {
        await _from.DisposeAsync();
        await _to.DisposeAsync();
    }

    // Npgsql keeps to itself what breaks a connection after the last row was read, and refuses the next command as a
    // mistake of the caller.
    private async Task<T> ConnectedAsync<T>(Func<Task<T>> work)
    {
        try
        {
            return await work();
        }
        catch (InvalidOperationException e) when (_from.State != ConnectionState.Open
            || _to.State != ConnectionState.Open)
        {
            throw new NpgsqlException("The connection to a database was lost: move the shard again.", e);
        }
    }

    // Keeps other moves of the shard away for as long as the sessions last.
    private async Task OpenAsync(CancellationToken cancellationToken)
    {
        foreach (var session in (NpgsqlConnection[])[_from, _to])
        {
            await session.OpenAsync(cancellationToken);
            try
            {
                // A server takes a moment to notice that the session of an interrupted move has ended.
                await ExecuteAsync(
                    session, $"set lock_timeout = '2s'; select pg_advisory_lock({MoveLock}, {shard})",
                    cancellationToken);
            }
            catch (PostgresException e) when (e.SqlState == PostgresErrorCodes.LockNotAvailable)
            {
                throw new StoreCopyException($"Shard {shard} is being moved already.");
            }
        }
    }

    private async Task BeginAsync(CancellationToken cancellationToken)
    {
        await OpenAsync(cancellationToken);
        if (await ScalarAsync(
            _from, $"select true from {_fromShards} where number = {shard} and is_held and moving_to is null",
            cancellationToken) is not true)
        {
            throw new StoreCopyException($"The database {from.Name} does not hold shard {shard} any more.");
        }
        // The other one may have seen later numbers than this one, which was restored to an earlier time.
        if (await ScalarAsync(
            _to, $"select epoch from {_toShards} where number = {shard}", cancellationToken) is long seen)
        {
            await ExecuteAsync(
                _from, $"update {_fromShards} set epoch = {seen + 1} where number = {shard} and epoch <= {seen}",
                cancellationToken);
        }
    }

    private async Task<bool> IsHeldThereAsync(CancellationToken cancellationToken) =>
        await ScalarAsync(_to, $"select is_held from {_toShards} where number = {shard}", cancellationToken) is true;

    private ShardCopy Copy() => new(_from, _to, from.Settings.Schema, to.Settings.Schema, shard);

    // Waits until no append is under way, does something, and returns the last sequence number of the events
    // that are there then.
    private async Task<long> WithoutAppendsAsync(string action, CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                await using var transaction = await _from.BeginTransactionAsync(cancellationToken);
                await ExecuteAsync(
                    _from,
                    "set local lock_timeout = '1s'; select "
                        + $"pg_advisory_xact_lock({StoredFunction.ShardLock}); {action}",
                    cancellationToken);
                var last = (long)(await ScalarAsync(
                    _from, $"select last_value from {from.Settings.Schema}.mt_events_sequence", cancellationToken))!;
                await transaction.CommitAsync(cancellationToken);
                return last;
            }
            catch (PostgresException e) when (e.SqlState == PostgresErrorCodes.LockNotAvailable
                && attempt < CloseAttempts)
            {
                await Task.Delay(CloseDelay, cancellationToken);
            }
        }
    }

    private async Task SwitchAsync(CancellationToken cancellationToken)
    {
        var epoch = await ClosedEpochAsync(cancellationToken);
        if (await ScalarAsync(_to, $"""
            insert into {_toShards} as known (number, epoch, is_held) values ({shard}, {epoch + 1}, true)
            on conflict (number) do update set epoch = excluded.epoch, is_held = true, moving_to = null
                where known.epoch < excluded.epoch
            returning true
            """, cancellationToken) is not true)
        {
            throw new StoreCopyException($"Shard {shard} has been in {to.Name} under a later number: move it again.");
        }
        await ExecuteAsync(
            _from, $"update {_fromShards} set is_held = false, epoch = {epoch + 1} where number = {shard}",
            cancellationToken);
    }

    // Until that is done, the database that held the shard says where it has gone.
    private async Task DeleteAsync(ShardCopy copy, CancellationToken cancellationToken)
    {
        await copy.DeleteAsync(cancellationToken);
        await ExecuteAsync(
            _from, $"update {_fromShards} set moving_to = null where number = {shard}", cancellationToken);
    }

    // The number of the shard while it is closed for this move.
    private async Task<long> ClosedEpochAsync(CancellationToken cancellationToken) =>
        await ClosedEpochOrNullAsync(cancellationToken)
        ?? throw new StoreCopyException($"Shard {shard} was moved by somebody else meanwhile.");

    private async Task<long?> ClosedEpochOrNullAsync(CancellationToken cancellationToken) => (long?)await ScalarAsync(
        _from, $"select epoch from {_fromShards} where number = {shard} and is_held and moving_to = '{to.Name}'",
        cancellationToken);

    private static NpgsqlConnection Session(EventStoreDatabase database) =>
        database.Servers.Unpooled.CreateConnection();

    private static async Task<object?> ScalarAsync(
        NpgsqlConnection session, string sql, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(sql, session);
        return await command.ExecuteScalarAsync(cancellationToken) is { } value and not DBNull ? value : null;
    }

    private static async Task ExecuteAsync(NpgsqlConnection session, string sql, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(sql, session);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
