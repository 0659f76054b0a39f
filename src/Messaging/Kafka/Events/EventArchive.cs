using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;

namespace Billing.Messaging.Kafka.Events;

/// <summary>Reads the event topic up to the end that it has then, and publishes events of it once more. It uses no consumer group, so
/// reading changes nothing on the brokers. Reading blocks.</summary>
public sealed class EventArchive : IDisposable
{
    private static readonly TimeSpan SendTimeout = TimeSpan.FromSeconds(30);

    private readonly KafkaOptions _options;
    private readonly IConsumer<byte[], byte[]> _consumer;
    private readonly Lazy<IProducer<byte[], byte[]>> _producer;
    private string? _lastError;

    /// <summary>Connects; nothing is read yet.</summary>
    public EventArchive(KafkaOptions options)
    {
        _options = options;
        var config = options.Consumer("billing-replay", "billing-replay");
        config.EnablePartitionEof = true;
        _consumer = KafkaClients.Consumer<byte[], byte[]>(config, e => _lastError = e.Reason);
        _producer = new(() => KafkaClients.Producer<byte[], byte[]>(options.Producer("billing-replay", SendTimeout)));
    }

    /// <summary>Since when the topic has all events, as far as they were read; null if it still has the first of all.</summary>
    public DateTimeOffset? CompleteSince { get; private set; }

    /// <summary>Number of records that are no events.</summary>
    public long Unreadable { get; private set; }

    /// <summary>Returns the events of the topic, those of one account in the order of the topic.</summary>
    /// <param name="since">Leaves out what the brokers had before; nothing if null.</param>
    /// <exception cref="StartupException">No broker answers, or the topic does not exist.</exception>
    public IEnumerable<Event> Read(DateTimeOffset? since)
    {
        var ranges = Answered(() => Ranges(since));
        var open = ranges.Where(r => r.Start < r.End).ToDictionary(r => r.Partition);
        var first = open.Values.Where(r => r.IsCut).Select(r => r.Partition).ToHashSet();
        _consumer.Assign(open.Values.Select(r => new TopicPartitionOffset(Topics.Events, r.Partition, r.Start)));
        while (open.Count > 0)
        {
            var record = Answered(() => _consumer.Consume(_options.StartTimeout))
                ?? throw new StartupException(
                    $"The brokers at '{_options.BootstrapServers}' stopped answering ({_lastError ?? "reason unknown"}).");
            if (!open.TryGetValue(record.Partition.Value, out var range))
            {
                continue;
            }
            if (record.IsPartitionEOF || record.Offset >= range.End - 1)
            {
                open.Remove(range.Partition);
            }
            if (record.IsPartitionEOF || record.Offset >= range.End)
            {
                continue;
            }
            var at = record.Message.Timestamp.UtcDateTime;
            if (first.Remove(range.Partition) && (CompleteSince is not { } known || at > known))
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
        _consumer.Unassign();
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
        _consumer.Dispose();
        if (_producer.IsValueCreated)
        {
            _producer.Value.Dispose();
        }
    }

    private List<Range> Ranges(DateTimeOffset? since)
    {
        using var admin = new DependentAdminClientBuilder(_consumer.Handle).Build();
        var topic = admin.GetMetadata(Topics.Events, _options.StartTimeout).Topics
            .Find(t => t.Topic == Topics.Events && !t.Error.IsError)
            ?? throw new StartupException(
                $"The brokers at '{_options.BootstrapServers}' have no topic {Topics.Events}: no backend has run there.");
        var partitions = topic.Partitions.ConvertAll(p => new TopicPartition(Topics.Events, p.PartitionId));
        var starts = since is not { } from ? [] : _consumer.OffsetsForTimes(
                partitions.Select(p => new TopicPartitionTimestamp(p, new Timestamp(from))), _options.StartTimeout)
            .ToDictionary(found => found.Partition.Value, found => found.Offset);
        return partitions.ConvertAll(partition =>
        {
            var ends = _consumer.QueryWatermarkOffsets(partition, _options.StartTimeout);
            var start = !starts.TryGetValue(partition.Partition.Value, out var found) ? ends.Low.Value
                // No record is as late.
                : found.IsSpecial ? ends.High.Value
                : found.Value;
            return new Range(partition.Partition.Value, start, ends.High.Value, start == ends.Low.Value && start > 0);
        });
    }

    private T Answered<T>(Func<T> question)
    {
        try
        {
            return question();
        }
        catch (KafkaException e)
        {
            throw new StartupException(
                $"No broker answers at '{_options.BootstrapServers}' within {_options.StartTimeout.TotalSeconds:0.#} s "
                + $"({_lastError ?? e.Error.Reason}).", e);
        }
    }

    /// <summary>A range of offsets in one partition; the end is exclusive. It is cut if earlier records, which are deleted, may belong
    /// to it.</summary>
    private sealed record Range(int Partition, long Start, long End, bool IsCut);
}
