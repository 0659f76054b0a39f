using Billing.Hosting;
using Billing.Proxy.Limits;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Live;

/// <summary>Records calls while somebody watches the live page, and for <see cref="LiveOptions.KeepFor"/> after that,
/// and sends the watching pages a snapshot each second.</summary>
internal sealed partial class LiveFeed(
    LiveWatch watch, Watchers watchers, LiveView view, Admission admission, IOptions<LiveOptions> options,
    TimeProvider time, Supervisor supervisor, ILogger<LiveFeed> logger, KafkaWatch? kafka = null)
    : Worker(supervisor)
{
    private static readonly TimeSpan Turn = TimeSpan.FromSeconds(1);

    public override async Task RunAsync(CancellationToken stopping)
    {
        using var turns = new PeriodicTimer(Turn, time);
        try
        {
            while (await turns.WaitForNextTickAsync(stopping))
            {
                RunTurn();
            }
        }
        finally
        {
            kafka?.Disconnect();
        }
    }

    private void RunTurn()
    {
        try
        {
            if (watchers.Count > 0)
            {
                var record = watch.Begin();
                record.WatchedAt = time.GetTimestamp();
                record.Calls.Ended(admission.InFlight);
                kafka?.Poll();
                watchers.Publish(view.Snapshot(record));
            }
            else if (watch.Record is { } record)
            {
                kafka?.Disconnect();
                record.Calls.Ended(admission.InFlight);
                if (time.GetElapsedTime(record.WatchedAt) >= options.Value.KeepFor)
                {
                    watch.End();
                }
            }
        }
        catch (Exception e)
        {
            // Logged only: payments do not depend on the live page.
            Failed(e);
        }
    }

    [LoggerMessage(1, LogLevel.Warning, "A snapshot for the live page failed")]
    private partial void Failed(Exception cause);
}
