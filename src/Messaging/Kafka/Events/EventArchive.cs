using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;

namespace Billing.Messaging.Kafka.Events;

/// <summary>Reads the event topic up to the end that it has then, and publishes events of it once more.
/// It uses no consumer group, so reading changes nothing on the brokers. Reading blocks.</summary>
public sealed class EventArchive : IDisposable
{

    private readonly TopicArchive _topic;
    private readonly Lazy<IProducer<byte[], byte[]>> _producer;

    /// <summary>Connects; nothing is read yet.</summary>
    public EventArchive(KafkaOptions options)
    {
        _topic = new TopicArchive(options, Topics.Events, "billing-replay");
        _producer = new(() =>
            KafkaClients.Producer<byte[], byte[]>(options.Producer("billing-replay", CommandDeadline.SendingMax)));
    }

    /// <summary>Since when the topic has all events, as far as they were read; null if it still has
    /// the first of all.</summary>
    public DateTimeOffset? CompleteSince { get; private set; }

    /// <summary>Number of records that are no events.</summary>
    public long Unreadable { get; private set; }

    /// <summary>Returns the events of the topic, those of one account in the order of the topic.</summary>
    /// <param name="since">Leaves out what the brokers had before; nothing if null.</param>
    /// <exception cref="StartupException">No broker answers, or the topic does not exist.</exception>
    public IEnumerable<Event> Read(DateTimeOffset? since)
    {
        var ranges = _topic.Ranges(since);
        var first = ranges.Where(r => r.IsCut).Select(r => r.Partition).ToHashSet();
        foreach (var record in _topic.Read(ranges))
        {
            var at = record.Message.Timestamp.UtcDateTime;
            if (first.Remove(record.Partition.Value) && (CompleteSince is not { } known || at > known))
            {
                CompleteSince = at;
            }
            if (WireFormat.TryReadEvent(record.Message.Value, record.WireVersion(), out var recorded, out _))
            {
                yield return recorded;
            }
            else
            {
                Unreadable++;
            }
        }
    }

    /// <summary>Publishes events once more, as they are, and waits for the acknowledgements.</summary>
    /// <exception cref="KafkaException">The brokers did not accept one.</exception>
    public Task PublishAgainAsync(IEnumerable<Event> events, CancellationToken cancellationToken) => Task.WhenAll(
        events.Select(recorded => _producer.Value.ProduceAsync(
            Topics.Events,
            new Message<byte[], byte[]>
            {
                Key = System.Text.Encoding.UTF8.GetBytes(recorded.StreamId),
                Value = recorded.ToByteArray(),
                Headers = WireHeaders.Version,
            },
            cancellationToken)).ToList());

    /// <inheritdoc/>
    public void Dispose()
    {
        _topic.Dispose();
        if (_producer.IsValueCreated)
        {
            _producer.Value.Dispose();
        }
    }
}
