using Billing.Messaging;
using Billing.Webhooks.Security;
using Billing.Webhooks.Telemetry;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.Webhooks;

/// <summary>Stores each published event once for each receiver that wants it, before its offset is committed.</summary>
internal sealed partial class EventIntake(
    IPendingEvents store, Deliveries deliveries, IOptions<WebhookOptions> options, ILogger<EventIntake> logger)
    : IEventSink
{
    private readonly Filter[] _filters =
    [
        .. options.Value.Receivers.Select(receiver => new Filter(receiver.Key, receiver.Value)),
    ];

    /// <inheritdoc/>
    /// <exception cref="UnknownKindException">A newer version of the program has published an event;
    /// only that version can pass it on.</exception>
    public async Task TakeAsync(IReadOnlyList<Event> events, CancellationToken cancellationToken)
    {
        var pending = new List<PendingEvent>();
        foreach (var recorded in events)
        {
            if (!EventBody.IsOfAccount(recorded))
            {
                Skipped(recorded.Version);
                continue;
            }
            if (EventBody.KindOf(recorded) is not { } kind)
            {
                Refuse(recorded);
                continue;
            }
            var (type, _) = EventBody.Split(recorded.StreamId);
            string? body = null;
            foreach (var filter in _filters.Where(filter => filter.Wants(kind, type)))
            {
                pending.Add(new PendingEvent(
                    filter.Receiver, recorded.StreamId, PendingId.Of(recorded), body ??= EventBody.Of(recorded)));
            }
        }
        if (pending.Count > 0)
        {
            await store.AddAsync(pending, cancellationToken);
            deliveries.Wake();
        }
    }

    /// <inheritdoc/>
    public void Miss(long count) => WebhookMetrics.Missed(count);

    // A record without any fact is nobody's event, whatever the version.
    private void Refuse(Event recorded)
    {
        var known = Event.Parser.WithDiscardUnknownFields(true)
            .ParseFrom(Google.Protobuf.MessageExtensions.ToByteArray(recorded));
        if (known.CalculateSize() != recorded.CalculateSize())
        {
            throw new UnknownKindException(recorded);
        }
        Empty(recorded.StreamId, recorded.Version);
    }

    [LoggerMessage(400, LogLevel.Warning, "The event {StreamId}@{Version} states no fact and is skipped")]
    private partial void Empty(string streamId, long version);

    [LoggerMessage(
        408, LogLevel.Warning,
        "An event with the version {Version} is of no account of the platform, or of no time, and is skipped")]
    private partial void Skipped(long version);

    private sealed class Filter(string receiver, ReceiverOptions options)
    {
        private readonly string[] _kinds = AddressRules.Listed(options.Events);
        private readonly string[] _types = AddressRules.Listed(options.PaymentTypes);

        public string Receiver => receiver;

        public bool Wants(string kind, string type) =>
            (_kinds.Length == 0 || _kinds.Contains(kind)) && (_types.Length == 0 || _types.Contains(type));
    }

    private sealed class UnknownKindException(Event recorded) : Exception(
        $"the event {recorded.StreamId}@{recorded.Version} is of a kind that a newer version of this program has "
        + "published; upgrade this one.");
}
