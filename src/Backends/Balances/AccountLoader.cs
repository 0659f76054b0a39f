using System.Threading.Channels;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;

namespace Billing.Backends.Balances;

/// <summary>Reads accounts of one database into the view: those that are wanted, and all of them, page by page,
/// as many as the view may hold. Waits for as long as the database is unavailable.</summary>
internal sealed partial class AccountLoader
{
    // Stands in the queue of accounts to read for all of them.
    private const string All = "";

    // Of accounts whose names are as long as can be, 2 MB.
    private const int WantedMax = 10_000;

    private static readonly TimeSpan LogInterval = TimeSpan.FromSeconds(5);

    private readonly BalanceView _view;
    private readonly IAccountStore _database;
    private readonly ShardedReader _reader;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly int _batchMax;
    private readonly EventStoreRetry.Retries _retry;
    private readonly EventStoreRetry.Retries _reload;
    private readonly Channel<string> _wanted = Channel.CreateBounded<string>(
        new BoundedChannelOptions(WantedMax) { SingleReader = true });

    private volatile bool _wantsAll;
    private volatile bool _isOverfull;

    public AccountLoader(
        BalanceView view, IAccountStore database, ShardedReader reader, EventStoreRetry retry,
        int batchMax, TimeProvider time, ILogger logger)
    {
        (_view, _database, _reader, _batchMax, _time, _logger) = (view, database, reader, batchMax, time, logger);
        _retry = retry.Unlimited(EventStoreFailure.IsUnavailable, (e, attempt) => Waiting(attempt, e.Message));
        _reload = retry.Together(EventStoreFailure.IsRetryable, (e, attempt) => Waiting(attempt, e.Message));
    }

    /// <summary>Wants an account to be read in the background. If so many wait for it already that the database must
    /// be away, the view forgets the account.</summary>
    public void Want(string streamId)
    {
        if (_wanted.Writer.TryWrite(streamId))
        {
            return;
        }
        _view.Forget(streamId);
        if (!_isOverfull)
        {
            _isOverfull = true;
            Overfull(WantedMax);
        }
    }

    /// <summary>Wants all accounts to be read in the background.</summary>
    public void WantAll()
    {
        _wantsAll = true;
        // If there is no room, the loop is woken by what is there.
        _wanted.Writer.TryWrite(All);
    }

    /// <summary>Reads all accounts into the view, as many as it may hold.</summary>
    public async Task FillAsync(Action<int> report, CancellationToken cancellationToken)
    {
        for (var last = All; last is not null; report(_view.Count))
        {
            last = await ReadPageAsync(last, cancellationToken);
        }
    }

    /// <summary>Reads what is wanted.</summary>
    /// <param name="begin">Called when reading all accounts begins; returns what to pass at its end.</param>
    /// <param name="filled">Called when all accounts have been read, with the shards whose accounts these were.</param>
    /// <param name="stopping">Cancelled when the loop must end.</param>
    public async Task RunAsync(Func<int> begin, Action<int, IEnumerable<int>> filled, CancellationToken stopping)
    {
        // The last account of the page that was read last, while the view is being filled.
        string? last = null;
        var (round, start, logged) = (0, 0L, 0L);
        IReadOnlyDictionary<int, long> held = new Dictionary<int, long>();
        while (last is not null || await _wanted.Reader.WaitToReadAsync(stopping))
        {
            var batch = new HashSet<string>(StringComparer.Ordinal);
            while (batch.Count < _batchMax && _wanted.Reader.TryRead(out var streamId))
            {
                if (streamId != All)
                {
                    batch.Add(streamId);
                }
            }
            if (_wantsAll)
            {
                _wantsAll = false;
                (last, round, start, logged) = (All, begin(), _time.GetTimestamp(), _time.GetTimestamp());
                held = await HeldAsync(stopping);
            }
            if (batch.Count > 0)
            {
                _reload.Begin();
                await ReloadAsync([.. batch], stopping);
                _isOverfull = false;
            }
            if (last is { } known && (last = await ReadPageAsync(known, stopping)) is null)
            {
                Filled(_view.Count, _time.GetElapsedTime(start).TotalSeconds, _view.IsFull);
                // Accounts that came or went with their shard meanwhile may have been passed over.
                var still = await HeldAsync(stopping);
                filled(round, held.Where(shard => still.TryGetValue(shard.Key, out var epoch) && epoch == shard.Value)
                    .Select(shard => shard.Key));
            }
            else if (last is not null && _time.GetElapsedTime(logged) >= LogInterval)
            {
                logged = _time.GetTimestamp();
                Filling(_view.Count);
            }
        }
    }

    private async Task<IReadOnlyDictionary<int, long>> HeldAsync(CancellationToken cancellationToken) =>
        await _retry.ExecuteAsync(async token => await _database.HeldShardsAsync(token), cancellationToken);

    // Returns the last account of the page, and null when there are no more, or there is no more room.
    private async Task<string?> ReadPageAsync(string last, CancellationToken cancellationToken)
    {
        if (_view.IsFull)
        {
            return null;
        }
        var page = await _retry.ExecuteAsync(
            async token => await _database.ListAsync(last, _batchMax, token), cancellationToken);
        if (page.Length == 0)
        {
            return null;
        }
        _reload.Begin();
        await ReloadAsync(page, cancellationToken);
        return page[^1];
    }

    private async Task ReloadAsync(string[] streamIds, CancellationToken cancellationToken)
    {
        try
        {
            await _reload.ExecuteAsync(
                async token => await _view.ReadAsync(_reader, streamIds, token), cancellationToken);
        }
        catch (Exception) when (!cancellationToken.IsCancellationRequested && streamIds.Length > 1)
        {
            // One of them cannot be read, and must not keep the others from it.
            foreach (var half in streamIds.Chunk((streamIds.Length + 1) / 2))
            {
                await ReloadAsync(half, cancellationToken);
            }
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            // What the view knew of it is out of date. Whoever asks for it reads it, or waits.
            _view.Forget(streamIds[0]);
            ReloadFailed(e, streamIds[0]);
        }
    }

    [LoggerMessage(
        245, LogLevel.Warning,
        "{Count} accounts wait to be read into the view of the balances: it forgets further ones that change, and "
            + "each is read when its balance is asked for")]
    private partial void Overfull(int count);

    [LoggerMessage(240, LogLevel.Information, "Filling the view of the balances: {Accounts} accounts")]
    private partial void Filling(int accounts);

    [LoggerMessage(
        241, LogLevel.Information,
        "The view of the balances holds {Accounts} accounts after {Seconds:0.000} s; full: {IsFull}")]
    private partial void Filled(int accounts, double seconds, bool isFull);

    [LoggerMessage(243, LogLevel.Warning, "Accounts could not be read, attempt {Attempt}: {Reason}")]
    private partial void Waiting(int attempt, string reason);

    [LoggerMessage(
        244, LogLevel.Error,
        "{StreamId} could not be read from the event store; that is tried again at its next event, and when its "
            + "balance is asked for")]
    private partial void ReloadFailed(Exception e, string streamId);
}
