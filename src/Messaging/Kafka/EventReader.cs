using Billing.Messaging.Kafka.Clients;
using Billing.Wire.V1;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>The consumer loop of a follower of the event topic, one turn per call: it applies every event from given
/// offsets on to the read model. Not thread-safe.</summary>
internal sealed class EventReader(IReadModel model, ILogger logger)
{
    /// <summary>Largest number of records consumed per turn.</summary>
    public const int DrainMax = 1000;

    /// <summary>The bytes of records after which a turn takes no more: as objects and texts they take several times as
    /// much memory.</summary>
    public const int DrainBytesMax = 4 << 20;

    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(100);
    /// <summary>How long the brokers may take to say where the events begin and end.</summary>
    internal static readonly TimeSpan QueryTimeout = TimeSpan.FromSeconds(5);

    private readonly Dictionary<TopicPartition, Offset> _next = [];

    /// <summary>Takes the records that are available, at most <see cref="DrainMax"/> or
    /// <see cref="DrainBytesMax"/>.</summary>
    /// <exception cref="ConsumeException">The client reports an error; what was taken before it is not
    /// affected.</exception>
    public static void Drain(IConsumer<byte[], byte[]> consumer, Action<ConsumeResult<byte[], byte[]>> take)
    {
        var record = consumer.Consume(PollInterval);
        var bytes = 0L;
        for (var taken = 1; record is not null; taken++)
        {
            take(record);
            bytes += record.Message.Value?.Length ?? 0;
            record = taken < DrainMax && bytes < DrainBytesMax ? consumer.Consume(TimeSpan.Zero) : null;
        }
    }

    /// <summary>The event in a record; null if it is none, which is logged.</summary>
    public static Event? Read(ConsumeResult<byte[], byte[]> record, ILogger logger)
    {
        if (WireFormat.TryReadEvent(record.Message.Value, record.WireVersion(), out var recorded, out var refusal))
        {
            return recorded;
        }
        KafkaLog.EventIgnored(logger, record.Topic, record.Partition.Value, record.Offset.Value, refusal);
        return null;
    }

    /// <summary>Stores the current end offsets of the partitions as the next offsets to read.</summary>
    /// <exception cref="KafkaException">No broker answers.</exception>
    public void StoreEndOffsets(IConsumer<byte[], byte[]> consumer, IEnumerable<TopicPartition> partitions)
    {
        _next.Clear();
        foreach (var partition in partitions)
        {
            _next.Add(partition, consumer.QueryWatermarkOffsets(partition, QueryTimeout).High);
        }
    }

    // Every replica answers queries about all accounts, so every replica needs all partitions. A common group would
    // distribute them; a group per replica would leave offsets on the brokers that nothing uses, because after a
    // restart the model begins anew.

    /// <summary>Assigns the partitions to the client, from the next offsets on.</summary>
    public void Assign(IConsumer<byte[], byte[]> consumer)
    {
        consumer.Assign(_next.Select(next => new TopicPartitionOffset(next.Key, next.Value)));
        KafkaLog.Following(
            logger, Topics.Events, string.Join(", ", _next.Select(n => $"{n.Key.Partition.Value}@{n.Value}")));
    }

    /// <summary>Adds the new partitions, from their beginning: they may already contain events, also of accounts whose
    /// earlier events are on another partition.</summary>
    public void Add(IConsumer<byte[], byte[]> consumer, IEnumerable<TopicPartition> partitions)
    {
        var added = partitions.Where(p => !_next.ContainsKey(p)).ToList();
        if (added.Count > 0)
        {
            KafkaLog.PartitionsAdded(logger, Topics.Events, string.Join(", ", added.Select(p => p.Partition.Value)));
            added.ForEach(p => _next.Add(p, Offset.Beginning));
            Assign(consumer);
        }
    }

    /// <summary>Runs one turn: applies the available events.</summary>
    /// <returns>False if the topic no longer contains the next event.</returns>
    public bool RunTurn(IConsumer<byte[], byte[]> consumer)
    {
        var events = new List<Event>();
        var hasNext = true;
        try
        {
            Drain(consumer, record =>
            {
                _next[record.TopicPartition] = record.Offset + 1;
                if (Read(record, logger) is { } recorded)
                {
                    if (!WireFormat.IsWhole(recorded, record.Message.Value))
                    {
                        // As an event of a kind that this program does not know: what it changes is not known.
                        recorded.ClearFact();
                    }
                    events.Add(recorded);
                }
            });
        }
        catch (ConsumeException e) when (e.Error.Code is ErrorCode.Local_AutoOffsetReset or ErrorCode.OffsetOutOfRange)
        {
            KafkaLog.EventsGone(logger, Topics.Events, e.Error.Reason);
            hasNext = false;
        }
        catch (ConsumeException e) when (!e.Error.IsFatal)
        {
            KafkaLog.ClientError(logger, e.Error.Reason);
        }
        HandOver(events);
        return hasNext;
    }

    private void HandOver(List<Event> events)
    {
        try
        {
            model.Apply(events);
        }
        catch (Exception e) when (events.Count == 1)
        {
            // The account now misses an event; its next event makes the model read the account from the event store.
            KafkaLog.EventFailed(logger, e, events[0].StreamId, events[0].Version);
        }
        catch (Exception)
        {
            // Apply them one by one, so that the one that fails does not affect the others.
            events.ForEach(recorded => HandOver([recorded]));
        }
    }
}
