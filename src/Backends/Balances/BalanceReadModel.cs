using System.Threading.Channels;
using Billing.Backends.EventStore;
using Billing.Backends.Telemetry;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Balances;

/// <summary>Maintains the view of the balances: applies published events, and reads from the event store, in the background, the accounts
/// that have missed an event, and after a reset all accounts, page by page, as many as the view may hold. Meanwhile the view does not
/// know accounts, and whoever asks for one reads it. Waits for as long as the event store is unavailable.</summary>
internal sealed partial class BalanceReadModel(
    BalanceView view, IAccountStore store, EventStoreRetry retry, IOptions<BackendOptions> options,
    Supervisor supervisor, TimeProvider time, ILogger<BalanceReadModel> logger) : Worker(supervisor), IReadModel
{
    // Stands in the queue of accounts to read for all of them.
    private const string All = "";

    private static readonly TimeSpan LogInterval = TimeSpan.FromSeconds(5);

    private readonly Channel<string> _wanted = Channel.CreateUnbounded<string>(new UnboundedChannelOptions { SingleReader = true });

    private readonly int _batchMax = options.Value.BatchMax;
    private readonly EventStoreRetry.Retries _retry =
        retry.Unlimited(EventStoreFailure.IsUnavailable, (e, attempt) => Waiting(logger, attempt, e.Message));

    private readonly EventStoreRetry.Retries _reload =
        retry.Together(EventStoreFailure.IsRetryable, (e, attempt) => Waiting(logger, attempt, e.Message));

    public void Reset()
    {
        view.Reset();
        _wanted.Writer.TryWrite(All);
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
            _wanted.Writer.TryWrite(streamId);
        }
    }

    /// <summary>Reads all accounts into the view, as many as it may hold.</summary>
    /// <param name="report">Receives the number of accounts in the view after each page.</param>
    /// <param name="cancellationToken">Ends it at once.</param>
    /// <returns>The number of accounts in the view.</returns>
    public async Task<int> FillAsync(Action<int> report, CancellationToken cancellationToken)
    {
        for (var last = All; last is not null; report(view.Count))
        {
            last = await ReadPageAsync(last, cancellationToken);
        }
        return view.Count;
    }

    public override async Task RunAsync(CancellationToken stopping)
    {
        // The last account of the page that was read last, while the view is being filled.
        string? last = null;
        var (start, logged) = (0L, 0L);
        while (last is not null || await _wanted.Reader.WaitToReadAsync(stopping))
        {
            var batch = new HashSet<string>(StringComparer.Ordinal);
            while (batch.Count < _batchMax && _wanted.Reader.TryRead(out var streamId))
            {
                if (streamId == All)
                {
                    (last, start, logged) = (All, time.GetTimestamp(), time.GetTimestamp());
                }
                else
                {
                    batch.Add(streamId);
                }
            }
            if (batch.Count > 0)
            {
                _reload.Begin();
                await ReloadAsync([.. batch], stopping);
            }
            if (last is { } known && (last = await ReadPageAsync(known, stopping)) is null)
            {
                Filled(view.Count, time.GetElapsedTime(start).TotalSeconds, view.IsFull);
            }
            else if (last is not null && time.GetElapsedTime(logged) >= LogInterval)
            {
                logged = time.GetTimestamp();
                Filling(view.Count);
            }
        }
    }

    // Returns the last account of the page, and null when there are no more, or there is no more room.
    private async Task<string?> ReadPageAsync(string last, CancellationToken cancellationToken)
    {
        if (view.IsFull)
        {
            return null;
        }
        var page = await _retry.ExecuteAsync(async token => await store.ListAsync(last, _batchMax, token), cancellationToken);
        if (page.Length == 0)
        {
            view.Complete();
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
            await _reload.ExecuteAsync(async token => await view.ReadAsync(store, streamIds, token), cancellationToken);
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
            // An account that is held stays as it is; its next event is a gap again, which triggers another reload.
            view.Miss();
            ReloadFailed(e, streamIds[0]);
        }
    }

    [LoggerMessage(240, LogLevel.Information, "Filling the view of the balances: {Accounts} accounts")]
    private partial void Filling(int accounts);

    [LoggerMessage(241, LogLevel.Information, "The view of the balances holds {Accounts} accounts after {Seconds:0.000} s; full: {IsFull}")]
    private partial void Filled(int accounts, double seconds, bool isFull);

    [LoggerMessage(242, LogLevel.Warning, "An event of {StreamId} does not follow version {Version}; the account will be reloaded from the event store")]
    private partial void Gap(string streamId, long version);

    [LoggerMessage(243, LogLevel.Warning, "Accounts could not be read, attempt {Attempt}: {Reason}")]
    private static partial void Waiting(ILogger logger, int attempt, string reason);

    [LoggerMessage(244, LogLevel.Error, "{StreamId} could not be read from the event store; that is tried again at its next event, and when its balance is asked for")]
    private partial void ReloadFailed(Exception e, string streamId);
}
