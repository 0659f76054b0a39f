using Billing.Hosting;
using Billing.Webhooks.Telemetry;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Webhooks;

/// <summary>Delivers to every receiver, and reports what waits. A database that is away is waited for.</summary>
internal sealed partial class Deliveries : Worker, IReadyPart
{
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan ReportInterval = TimeSpan.FromSeconds(15);

    private readonly IPendingEvents _store;
    private readonly List<ReceiverDeliveries> _receivers;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private volatile string? _notReady = "the database has not answered yet";
    private volatile string? _reported;

    public Deliveries(
        IPendingEvents store, IOptions<WebhookOptions> options, Func<ReceiverOptions, IReceiver> connect,
        TimeProvider time, Supervisor supervisor, ILogger<Deliveries> logger)
        : base(supervisor)
    {
        (_store, _time, _logger) = (store, time, logger);
        var schedule = new RetrySchedule(options.Value, new Random(unchecked((int)time.GetTimestamp())));
        _receivers = [.. options.Value.Receivers.Select(receiver => new ReceiverDeliveries(
            receiver.Key, connect(receiver.Value), store, options.Value, schedule, time, logger))];
    }

    /// <inheritdoc/>
    public string? NotReadyReason => _notReady;

    /// <summary>States that events were added.</summary>
    public void Wake() => _receivers.ForEach(receiver => receiver.Wake());

    public override async Task RunAsync(CancellationToken stopping)
    {
        WebhookMetrics.Begin(_receivers.Select(receiver => receiver.Name));
        Task[] loops =
        [
            RepeatAsync(ReportAsync, stopping),
            .. _receivers.Select(receiver => RepeatAsync(receiver.RunTurnAsync, stopping)),
        ];
        // One that fails ends the process, whatever the others do.
        await await Task.WhenAny(loops);
        await Task.WhenAll(loops);
        await Task.WhenAll(_receivers.Select(receiver => receiver.EndAsync()));
        stopping.ThrowIfCancellationRequested();
    }

    private async Task ReportAsync(CancellationToken stopping)
    {
        await _store.EnsureAsync(stopping);
        var states = await _store.StatesAsync(stopping);
        _notReady = _reported = null;
        var configured = _receivers.Select(receiver => receiver.Name).ToHashSet();
        foreach (var state in states.Concat(configured.Except(states.Select(state => state.Receiver))
            .Select(name => new ReceiverState(name, 0, TimeSpan.Zero, 0))))
        {
            WebhookMetrics.Waiting(state.Receiver, state.Pending, state.OldestAge, state.ParkedAccounts);
            if (!configured.Contains(state.Receiver))
            {
                Unknown(state.Pending, state.Receiver);
            }
        }
        await Task.Delay(ReportInterval, _time, stopping);
    }

    private async Task RepeatAsync(Func<CancellationToken, Task> turn, CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                await turn(stopping);
            }
            catch (OperationCanceledException) when (stopping.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e) when (e is NpgsqlException or TimeoutException)
            {
                _notReady = "the database cannot be used at present";
                if (_reported != e.Message)
                {
                    _reported = e.Message;
                    Unavailable(e.Message);
                }
                await Task.Delay(RetryInterval, _time, stopping)
                    .ConfigureAwait(
                        ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
            }
        }
    }

    [LoggerMessage(401, LogLevel.Warning, "The database cannot be used, and is tried again: {Reason}")]
    private partial void Unavailable(string reason);

    [LoggerMessage(
        402, LogLevel.Warning,
        "{Pending} events wait for the receiver '{Receiver}', which is not in the settings: "
            + "drop them, or configure it again")]
    private partial void Unknown(long pending, string receiver);
}
