using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Billing.Messaging;
using Billing.Proxy.Limits;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Live;

/// <summary>Builds the events for the live page, as server-sent events.</summary>
internal sealed class LiveView(
    Admission admission, IRequestTransport transport, IOptions<ProxyOptions> proxy, TimeProvider time,
    KafkaWatch? kafka = null)
{
    private const int SnapshotSeconds = 10;

    /// <summary>Builds the first event for a page.</summary>
    public ReadOnlyMemory<byte> Hello(LiveRecord record)
    {
        var now = record.Calls.Now;
        var from = Math.Max(now - CallSeconds.Kept, record.Since.ToUnixTimeSeconds());
        var what = transport.Description;
        var history = record.Calls.Between(from, now).Select(Of).ToList();
        return Event(
            "hello", new LiveHello(
                what.Name, what.InsteadOfKafka, proxy.Value.InFlightMax,
                record.Since.ToUnixTimeMilliseconds(), history),
            LiveJson.Default.LiveHello);
    }

    /// <summary>Builds the event for all pages at the end of a second.</summary>
    public ReadOnlyMemory<byte> Snapshot(LiveRecord record)
    {
        var now = record.Calls.Now;
        var seconds = record.Calls.Between(now - SnapshotSeconds, now).ToList();
        var durations = DurationHistogram.Sum(seconds.Select(second => second.Durations));
        var latency = new LiveLatency(durations.Count, At(durations, 0.5), At(durations, 0.95), At(durations, 0.99));
        return Event(
            "snapshot", new LiveSnapshot(
                time.GetUtcNow().ToUnixTimeMilliseconds(), admission.InFlight, admission.OfStreams,
                [.. seconds.Select(Of)], latency, kafka?.View, record.Payments.Latest(), record.Failures.Latest()),
            LiveJson.Default.LiveSnapshot);
    }

    private static byte[] Event<T>(string name, T value, JsonTypeInfo<T> type) =>
    [
        .. System.Text.Encoding.UTF8.GetBytes($"event: {name}\ndata: "),
        .. JsonSerializer.SerializeToUtf8Bytes(value, type), .. "\n\n"u8,
    ];

    private static double? At(DurationHistogram durations, double part) =>
        durations.Percentile(part) is { } duration ? Math.Round(duration.TotalMilliseconds, 3) : null;

    private static LiveSecond Of(CallSeconds.Second second) => new(
        second.Number, Volatile.Read(ref second.Answered), Volatile.Read(ref second.Failed),
        Volatile.Read(ref second.InFlight), At(second.Durations, 0.5), At(second.Durations, 0.99));
}
