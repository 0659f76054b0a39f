using System.Collections.Concurrent;
using Billing.Webhooks.Telemetry;

namespace Billing.Webhooks;

/// <summary>Delivers the events for one receiver. A turn records the deliveries that have ended and claims further
/// accounts, as many as may be delivered to at a time; so the busier it is, the more of both go into one
/// statement. While events of an account are sent, nobody else claims the account; the claim of a service that is
/// lost ends with its lease.</summary>
internal sealed partial class ReceiverDeliveries(
    string name, IReceiver client, IPendingEvents store, WebhookOptions options,
    RetrySchedule schedule, TimeProvider time, ILogger logger)
{
    // How long an account that is due may go unnoticed: retries, and events that other services have taken over.
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(500);

    /// <summary>How long the recording of the last deliveries may take when the service stops.</summary>
    internal static readonly TimeSpan EndMax = TimeSpan.FromSeconds(5);

    private readonly Guid _claim = Guid.NewGuid();
    private readonly ReceiverCircuit _circuit = new(schedule, time);
    private readonly Dictionary<string, Task> _running = new(StringComparer.Ordinal);
    private readonly ConcurrentQueue<DeliveryOutcome> _ended = new();
    private readonly List<DeliveryOutcome> _unsettled = [];
    private volatile TaskCompletionSource _wake = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _isEnding;
    private int _isFailing;

    /// <summary>The receiver's name.</summary>
    public string Name => name;

    // No event is sent that might not be answered within the lease.
    private TimeSpan Lease => (options.Timeout * 3) + EndMax;

    /// <summary>States that there may be something to do.</summary>
    public void Wake() => _wake.TrySetResult();

    /// <summary>Settles, claims, and waits until there is more to do.</summary>
    public async Task RunTurnAsync(CancellationToken stopping)
    {
        // Before anything is looked at, so that what happens meanwhile is seen in the next turn.
        _wake = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await store.EnsureAsync(stopping);
        await SettleAsync(stopping);
        var since = time.GetTimestamp();
        var free = _circuit.Free(_running.Count, options.ConcurrencyMax);
        var claimed = free > 0 ? await store.ClaimAsync(name, _claim, Lease, free, stopping) : [];
        foreach (var account in claimed.Where(account => !_running.ContainsKey(account.StreamId)))
        {
            _running.Add(account.StreamId, DeliverAsync(account, since));
        }
        if (free == 0 || claimed.Count < free)
        {
            await RestAsync(_wake, stopping);
        }
    }

    /// <summary>Waits for the deliveries that are running and settles them, so that the next service
    /// need not repeat them.</summary>
    public async Task EndAsync()
    {
        _isEnding = true;
        await Task.WhenAll(_running.Values);
        using var bound = new CancellationTokenSource(EndMax, time);
        try
        {
            await SettleAsync(bound.Token);
        }
        catch (Exception e) when (e is Npgsql.NpgsqlException or OperationCanceledException or TimeoutException)
        {
            NotSettled(_unsettled.Count, name, e.Message);
        }
    }

    private async Task RestAsync(TaskCompletionSource wake, CancellationToken stopping)
    {
        await using var poll = time.CreateTimer(_ => wake.TrySetResult(), null, PollInterval, Timeout.InfiniteTimeSpan);
        await using var stop = stopping.Register(() => wake.TrySetResult());
        await wake.Task;
    }

    private async Task SettleAsync(CancellationToken cancellationToken)
    {
        while (_ended.TryDequeue(out var outcome))
        {
            _unsettled.Add(outcome);
            if (_circuit.Note(outcome))
            {
                TakesNothing(name);
            }
        }
        if (_unsettled.Count == 0)
        {
            return;
        }
        var parked = await store.SettleAsync(name, _claim, _unsettled, cancellationToken);
        foreach (var outcome in _unsettled)
        {
            _running.Remove(outcome.StreamId);
        }
        _unsettled.Clear();
        WebhookMetrics.Park(name, parked.Count);
        parked.ForEach(streamId => Parked(streamId, name));
    }

    // Never throws: the outcome ends the claim.
    private async Task DeliverAsync(ClaimedAccount account, long since)
    {
        var delivered = new List<PendingId>();
        DeliveryFailure? failure = null;
        foreach (var (id, body) in account.Events)
        {
            if (_isEnding || time.GetElapsedTime(since) + options.Timeout > Lease)
            {
                break;
            }
            failure = await AttemptAsync(id.Id.ToString(), body);
            if (failure is not null)
            {
                break;
            }
            delivered.Add(id);
        }
        if (delivered.Count > 0)
        {
            WebhookMetrics.Delivered(name, delivered.Count);
            if (Interlocked.Exchange(ref _isFailing, 0) != 0)
            {
                TakesAgain(name);
            }
        }
        if (failure is not null)
        {
            WebhookMetrics.Failed(name, failure.Reason);
            if (Interlocked.Exchange(ref _isFailing, 1) == 0)
            {
                Fails(name, account.StreamId, failure.Text);
            }
        }
        var failures = delivered.Count > 0 ? 1 : account.Failures + 1;
        _ended.Enqueue(
            new DeliveryOutcome(account.StreamId, delivered, failure, schedule.After(failures, failure?.RetryAfter)));
        Wake();
    }

    private async Task<DeliveryFailure?> AttemptAsync(string id, string body)
    {
        try
        {
            return await client.SendAsync(id, body);
        }
        catch (Exception e)
        {
            Unforeseen(e, id, name);
            return new DeliveryFailure("unforeseen", e.Message);
        }
    }

    [LoggerMessage(
        403, LogLevel.Warning, "{Receiver} does not take the next event of {StreamId}, which is tried again: {Reason}")]
    private partial void Fails(string receiver, string streamId, string reason);

    [LoggerMessage(
        409, LogLevel.Warning, "{Receiver} takes no events of any account: one at a time is sent until it does")]
    private partial void TakesNothing(string receiver);

    [LoggerMessage(407, LogLevel.Information, "{Receiver} takes events again")]
    private partial void TakesAgain(string receiver);

    [LoggerMessage(
        404, LogLevel.Warning,
        "The events of {StreamId} for {Receiver} are parked; './billing webhooks replay' sends them again")]
    private partial void Parked(string streamId, string receiver);

    [LoggerMessage(405, LogLevel.Error, "The event {Id} could not be sent to {Receiver}")]
    private partial void Unforeseen(Exception e, string id, string receiver);

    [LoggerMessage(
        406, LogLevel.Warning,
        "{Count} deliveries to {Receiver} could not be recorded, and will be repeated: {Reason}")]
    private partial void NotSettled(int count, string receiver, string reason);
}
