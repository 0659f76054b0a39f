using Billing.Hosting;
using Billing.Proxy.Limits;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Live;

/// <summary>Records calls while somebody watches the live page, and for <see cref="LiveOptions.KeepFor"/> after that, and sends
/// the watching pages a snapshot each second.</summary>
internal sealed partial class LiveFeed(
    LiveWatch watch, Watchers watchers, LiveView view, Admission admission, IOptions<LiveOptions> options, TimeProvider time, Supervisor supervisor,
    ILogger<LiveFeed> logger, KafkaWatch? kafka = null)
    : Worker(supervisor)
{
    private static readonly TimeSpan Turn = TimeSpan.FromSeconds(1);

    public override async Task RunAsync(CancellationToken stopping)
    {
        while (true)
        {
            await watchers.WaitForPageAsync(stopping);
            await RecordAsync(stopping);
        }
    }

    private async Task RecordAsync(CancellationToken stopping)
    {
        var record = watch.Begin();
        try
        {
            using var turns = new PeriodicTimer(Turn, time);
            var watchedAt = time.GetTimestamp();
            do
            {
                var isWatched = watchers.Count() > 0;
                if (isWatched)
                {
                    watchedAt = time.GetTimestamp();
                }
                else if (time.GetElapsedTime(watchedAt) >= options.Value.KeepFor)
                {
                    return;
                }
                RunTurn(record, isWatched);
            }
            while (await turns.WaitForNextTickAsync(stopping));
        }
        finally
        {
            kafka?.Disconnect();
            watch.End();
        }
    }

    private void RunTurn(LiveRecord record, bool isWatched)
    {
        try
        {
            record.Calls.Ended(admission.InFlight);
            if (!isWatched)
            {
                kafka?.Disconnect();
                return;
            }
            kafka?.Poll();
            watchers.Publish(view.Snapshot(record));
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
