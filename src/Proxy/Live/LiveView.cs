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
    private const int LatencySeconds = 10;

    private readonly int[] _inFlight = new int[CallSeconds.Kept + 1];

    /// <summary>Notes the number of calls in flight at the end of a second.</summary>
    public void Note(LiveRecord record) => Volatile.Write(ref _inFlight[Index(record.Calls.Now - 1)], admission.InFlight);

    /// <summary>Builds the first event for a page.</summary>
    public ReadOnlyMemory<byte> Hello(LiveRecord record)
    {
        var now = record.Calls.Now;
        var from = Math.Max(now - CallSeconds.Kept, record.Since.ToUnixTimeSeconds());
        return Event("hello", new LiveHello
        {
            Transport = transport.Description.Name,
            Instead = transport.Description.InsteadOfKafka,
            InFlightMax = proxy.Value.InFlightMax,
            Since = record.Since.ToUnixTimeMilliseconds(),
            // The previous second is part of the first snapshot.
            History = [.. record.Calls.Between(from, now - 1).Select(Of)],
        }, LiveJson.Default.LiveHello);
    }

    /// <summary>Builds the event for all pages at the end of a second.</summary>
    public ReadOnlyMemory<byte> Snapshot(LiveRecord record)
    {
        var now = record.Calls.Now;
        var latency = record.Calls.Durations(now - LatencySeconds, now);
        return Event("snapshot", new LiveSnapshot
        {
            At = time.GetUtcNow().ToUnixTimeMilliseconds(),
            InFlight = admission.InFlight,
            OfStreams = admission.OfStreams,
            Second = Of(record.Calls.Between(now - 1, now).Single()),
            Latency = new LiveLatency(latency.Count, At(latency, 0.5), At(latency, 0.95), At(latency, 0.99)),
            Kafka = kafka?.View,
            Payments = record.Payments.Latest(),
            Failures = record.Failures.Latest(),
        }, LiveJson.Default.LiveSnapshot);
    }

    private static byte[] Event<T>(string name, T value, JsonTypeInfo<T> type) =>
    [
        .. System.Text.Encoding.UTF8.GetBytes($"event: {name}\ndata: "), .. JsonSerializer.SerializeToUtf8Bytes(value, type), .. "\n\n"u8,
    ];

    private static double? At(DurationHistogram durations, double part) =>
        durations.Percentile(part) is { } duration ? Math.Round(duration.TotalMilliseconds, 3) : null;

    private static int Index(long second) => (int)(second % (CallSeconds.Kept + 1));

    private LiveSecond Of(CallSeconds.Second second) => new(
        second.Number, Volatile.Read(ref second.Answered), Volatile.Read(ref second.Failed), Volatile.Read(ref _inFlight[Index(second.Number)]),
        At(second.Durations, 0.5), At(second.Durations, 0.99));
}
