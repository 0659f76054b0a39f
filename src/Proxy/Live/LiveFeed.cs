using System.Diagnostics.Metrics;
using Billing.Messaging.Hosting;

namespace Billing.Proxy.Live;

/// <summary>Records while somebody watches, and a while longer, and tells each second what it has come to.</summary>
internal sealed partial class LiveFeed(
    LiveWatch watch, Watchers watchers, LiveView view, IMeterFactory meters, Microsoft.Extensions.Options.IOptions<LiveOptions> options,
    TimeProvider time, Supervisor supervisor, ILogger<LiveFeed> logger, KafkaWatch? kafka = null)
    : Worker(supervisor)
{
    private static readonly TimeSpan Turn = TimeSpan.FromSeconds(1);

    /// <inheritdoc/>
    public override async Task RunAsync(CancellationToken stopping)
    {
        while (true)
        {
            await watchers.SomebodyAsync(stopping);
            await RecordAsync(stopping);
        }
    }

    private async Task RecordAsync(CancellationToken stopping)
    {
        var record = watch.Begin();
        try
        {
            using var meter = new CallMeter(record.Calls, meters);
            using var turns = new PeriodicTimer(Turn, time);
            var watchedAt = time.GetTimestamp();
            do
            {
                var isWatched = watchers.Present() > 0;
                if (isWatched)
                {
                    watchedAt = time.GetTimestamp();
                }
                else if (time.GetElapsedTime(watchedAt) >= options.Value.KeepFor)
                {
                    return;
                }
                TakeTurn(record, isWatched);
            }
            while (await turns.WaitForNextTickAsync(stopping));
        }
        finally
        {
            kafka?.Rest();
            watch.End();
        }
    }

    private void TakeTurn(LiveRecord record, bool isWatched)
    {
        try
        {
            view.Note(record);
            if (!isWatched)
            {
                kafka?.Rest();
                return;
            }
            kafka?.Ask();
            watchers.Tell(view.Snapshot(record));
        }
        catch (Exception e)
        {
            // Whatever it is, payments do not depend on it.
            Failed(e);
        }
    }

    [LoggerMessage(1, LogLevel.Warning, "The live page missed a second")]
    private partial void Failed(Exception cause);
}
