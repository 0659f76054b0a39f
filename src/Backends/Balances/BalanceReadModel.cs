using System.Threading.Channels;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Telemetry;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Balances;

/// <summary>Maintains the view of the balances: builds it from the event store, applies published events, and reloads the
/// accounts that have missed an event. Reloading runs in the background, and retries for as long as the event store is
/// unavailable.</summary>
internal sealed partial class BalanceReadModel(
    BalanceView view, IEventScan scan, IAccountStore store, EventStoreRetry retry, IOptions<BackendOptions> options,
    Supervisor supervisor, TimeProvider time, ILogger<BalanceReadModel> logger) : Worker(supervisor), IReadModel
{
    private const int PageSize = 10_000;

    private static readonly TimeSpan LogInterval = TimeSpan.FromSeconds(5);

    private readonly Channel<string> _gaps =
        Channel.CreateUnbounded<string>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Account _opened = Account.Opened(options.Value.DefaultCreditLimit);
    private readonly int _batchMax = options.Value.BatchMax;
    private readonly EventStoreRetry.Retries _retry =
        retry.Unlimited(EventStoreFailure.IsUnavailable, (e, attempt) => Waiting(logger, attempt, e.Message));

    private readonly EventStoreRetry.Retries _reload =
        retry.Together(EventStoreFailure.IsRetryable, (e, attempt) => Waiting(logger, attempt, e.Message));

    public async Task RebuildAsync(CancellationToken cancellationToken)
    {
        var start = time.GetTimestamp();
        var logged = start;
        var last = await RebuildAsync(
            progress =>
            {
                if (time.GetElapsedTime(logged) >= LogInterval)
                {
                    logged = time.GetTimestamp();
                    Building(progress.Events, progress.EventsEstimate, progress.Accounts);
                }
            },
            cancellationToken);
        Built(last.Accounts, last.Events, time.GetElapsedTime(start).TotalSeconds);
    }

    /// <summary>Builds the view from the event store. Accounts that the view already holds stay: versions only grow.</summary>
    public async Task<RebuildProgress> RebuildAsync(Action<RebuildProgress> report, CancellationToken cancellationToken)
    {
        var gaps = new HashSet<string>(StringComparer.Ordinal);
        void Take(StoredEvent stored)
        {
            if (stored.Version > view.Get(stored.StreamId).Version
                && !view.Apply(stored.StreamId, stored.Version, EventTypes.Read(stored.Type, stored.Json)))
            {
                gaps.Add(stored.StreamId);
            }
        }

        var estimate = await _retry.ExecuteAsync(async token => await scan.LastAsync(token), cancellationToken);
        var (events, after) = (0L, EventScan.Start);
        while (true)
        {
            // A page that fails halfway is read again; the view ignores the events it already has.
            var (count, last) = await _retry.ExecuteAsync(
                async token => await scan.ReadPageAsync(after, PageSize, Take, token), cancellationToken);
            (events, after) = (events + count, last);
            if (count < PageSize)
            {
                break;
            }
            report(new RebuildProgress(events, Math.Max(estimate, events), view.Count));
        }
        foreach (var batch in gaps.Chunk(_batchMax))
        {
            _reload.Begin();
            await ReloadAsync(batch, cancellationToken);
        }
        var done = new RebuildProgress(events, events, view.Count);
        report(done);
        return done;
    }

    public void Apply(IReadOnlyList<Event> events)
    {
        foreach (var streamId in view.Apply(events))
        {
            BackendMetrics.ViewGaps.Add(1);
            Gap(streamId, view.Get(streamId).Version);
            _gaps.Writer.TryWrite(streamId);
        }
    }

    public override async Task RunAsync(CancellationToken stopping)
    {
        while (await _gaps.Reader.WaitToReadAsync(stopping))
        {
            var batch = new HashSet<string>(StringComparer.Ordinal);
            while (batch.Count < _batchMax && _gaps.Reader.TryRead(out var streamId))
            {
                batch.Add(streamId);
            }
            _reload.Begin();
            await ReloadAsync([.. batch], stopping);
        }
    }

    private async Task ReloadAsync(string[] streamIds, CancellationToken cancellationToken)
    {
        try
        {
            var accounts = await _reload.ExecuteAsync(
                async token => await store.LoadAsync(streamIds, _opened, token), cancellationToken);
            foreach (var (streamId, account) in accounts)
            {
                view.Put(streamId, account);
            }
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
            // The account stays as it is; its next event is a gap again, which triggers another reload.
            ReloadFailed(e, streamIds[0]);
        }
    }

    [LoggerMessage(240, LogLevel.Information, "Building the view of the balances: {Events} of about {Estimate} events read, {Accounts} accounts")]
    private partial void Building(long events, long estimate, int accounts);

    [LoggerMessage(241, LogLevel.Information, "Built the view of the balances: {Accounts} accounts from {Events} events in {Seconds:0.000} s")]
    private partial void Built(int accounts, long events, double seconds);

    [LoggerMessage(242, LogLevel.Warning, "An event of {StreamId} does not follow version {Version}; the account will be reloaded from the event store")]
    private partial void Gap(string streamId, long version);

    [LoggerMessage(243, LogLevel.Warning, "Events could not be read, attempt {Attempt}: {Reason}")]
    private static partial void Waiting(ILogger logger, int attempt, string reason);

    [LoggerMessage(244, LogLevel.Error, "{StreamId}, which has missed an event, could not be reloaded; that is tried again at its next event")]
    private partial void ReloadFailed(Exception e, string streamId);
}

/// <summary>The progress of a rebuild.</summary>
/// <param name="Events">Events read so far.</param>
/// <param name="EventsEstimate">The approximate total of events to read; exact at the end.</param>
/// <param name="Accounts">Accounts in the view so far.</param>
public readonly record struct RebuildProgress(long Events, long EventsEstimate, int Accounts);
