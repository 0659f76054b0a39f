using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Telemetry;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Balances;

/// <summary>Maintains the view of the balances: applies published events, and has the accounts that have missed an
/// event, and after a reset all accounts, read from their databases in the background. Meanwhile the view does not know
/// accounts, and whoever asks for one reads it.</summary>
internal sealed partial class BalanceReadModel(
    BalanceView view, ShardMap map, EventStoreRetry retry, IOptions<BackendOptions> options,
    Supervisor supervisor, TimeProvider time, ILogger<BalanceReadModel> logger) : Worker(supervisor), IReadModel
{
    private readonly AccountLoader[] _loaders =
    [
        .. map.Databases.Select(database => new AccountLoader(
            view, database, new ShardedReader(map), retry, options.Value.BatchMax, time, logger)),
    ];

    // The shards whose accounts each loader has read in this round; null until it has read all.
    private readonly IReadOnlyList<int>?[] _filled = new IReadOnlyList<int>?[map.Databases.Count];
    private readonly Lock _gate = new();
    private int _round;

    public void Reset()
    {
        lock (_gate)
        {
            view.Reset();
            FillAgain();
        }
    }

    public void Apply(IReadOnlyList<Event> events)
    {
        foreach (var streamId in view.Apply(events))
        {
            if (view.Find(streamId) is { } known)
            {
                BackendMetrics.ViewGaps.Add(1);
                Gap(streamId, known.Version);
            }
            if (map.Find(Shard.Of(streamId)) is not ShardMap.Nowhere and var database)
            {
                _loaders[database].Want(streamId);
            }
            else
            {
                // Whoever asks for it reads it, or waits.
                view.Forget(streamId);
            }
        }
    }

    /// <summary>Reads all accounts into the view, as many as it may hold.</summary>
    /// <param name="report">Receives the number of accounts in the view after each page.</param>
    /// <param name="cancellationToken">Ends it at once.</param>
    /// <returns>The number of accounts in the view.</returns>
    public async Task<int> FillAsync(Action<int> report, CancellationToken cancellationToken)
    {
        await map.RefreshAsync();
        foreach (var loader in _loaders)
        {
            await loader.FillAsync(report, cancellationToken);
        }
        if (!view.IsFull)
        {
            view.Complete();
        }
        return view.Count;
    }

    public override async Task RunAsync(CancellationToken stopping) => await await Task.WhenAny(
        _loaders.Select((loader, database) =>
            loader.RunAsync(Begin, (round, shards) => Note(round, database, [.. shards]), stopping)));

    private int Begin()
    {
        lock (_gate)
        {
            return _round;
        }
    }

    private void Note(int round, int database, IReadOnlyList<int> shards)
    {
        lock (_gate)
        {
            if (round != _round)
            {
                return;
            }
            _filled[database] = shards;
            if (Array.TrueForAll(_filled, read => read is not null) && !view.IsFull)
            {
                if (_filled.SelectMany(read => read!).Distinct().Count() == Shard.Count)
                {
                    view.Complete();
                }
                else
                {
                    // A shard was moved from a database that was read later to one that was read earlier.
                    FillAgain();
                }
            }
        }
    }

    private void FillAgain()
    {
        _round++;
        Array.Clear(_filled);
        Array.ForEach(_loaders, loader => loader.WantAll());
    }

    [LoggerMessage(
        242, LogLevel.Warning,
        "An event of {StreamId} does not follow version {Version}; the account will be reloaded from the event store")]
    private partial void Gap(string streamId, long version);
}
