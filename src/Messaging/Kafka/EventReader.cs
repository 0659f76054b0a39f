using Billing.Contracts;
using Billing.Wire.V1;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>What a follower of the event topic does with its client, turn by turn: it hands every event from a noted place on
/// to the read model. For one thread.</summary>
/// <param name="model">Takes the events.</param>
/// <param name="logger">The log.</param>
internal sealed class EventReader(IReadModel model, ILogger logger)
{
    /// <summary>Events handed over at a time, at most.</summary>
    public const int DrainMax = 1000;

    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan QueryTimeout = TimeSpan.FromSeconds(5);

    private readonly Dictionary<TopicPartition, Offset> _next = [];

    /// <summary>Notes where the partitions end.</summary>
    /// <exception cref="KafkaException">No broker answers.</exception>
    public void NoteEnds(IConsumer<byte[], byte[]> consumer, IEnumerable<TopicPartition> partitions)
    {
        _next.Clear();
        foreach (var partition in partitions)
        {
            _next.Add(partition, consumer.QueryWatermarkOffsets(partition, QueryTimeout).High);
        }
    }

    // Every replica answers for all accounts, so every replica needs all partitions. A group would share them out; a group
    // for each replica would leave its offsets behind on the brokers, and nobody needs them: after a restart the model is
    // built from the event store.

    /// <summary>Has the client read on from what is noted.</summary>
    public void Assign(IConsumer<byte[], byte[]> consumer)
    {
        consumer.Assign(_next.Select(next => new TopicPartitionOffset(next.Key, next.Value)));
        KafkaLog.Following(logger, Topics.Events, string.Join(", ", _next.Select(n => $"{n.Key.Partition.Value}@{n.Value}")));
    }

    /// <summary>Follows the partitions that were not there before, from their beginning: they may hold events already, of
    /// accounts that had theirs on another partition.</summary>
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

    /// <summary>Hands over what is there.</summary>
    /// <returns>False where the topic no longer holds what comes next.</returns>
    public bool TakeTurn(IConsumer<byte[], byte[]> consumer)
    {
        var events = new List<Event>();
        var goesOn = true;
        try
        {
            var record = consumer.Consume(PollInterval);
            for (var taken = 1; record is not null; taken++)
            {
                _next[record.TopicPartition] = record.Offset + 1;
                if (Read(record) is { } recorded)
                {
                    events.Add(recorded);
                }
                record = taken < DrainMax ? consumer.Consume(TimeSpan.Zero) : null;
            }
        }
        catch (ConsumeException e) when (e.Error.Code is ErrorCode.Local_AutoOffsetReset or ErrorCode.OffsetOutOfRange)
        {
            KafkaLog.EventsGone(logger, Topics.Events, e.Error.Reason);
            goesOn = false;
        }
        catch (ConsumeException e) when (!e.Error.IsFatal)
        {
            KafkaLog.ClientError(logger, e.Error.Reason);
        }
        HandOver(events);
        return goesOn;
    }

    private void HandOver(List<Event> events)
    {
        try
        {
            model.Apply(events);
        }
        catch (Exception e) when (events.Count == 1)
        {
            // The account misses an event now, so its next one has the model read it from the event store.
            KafkaLog.EventFailed(logger, e, events[0].StreamId, events[0].Version);
        }
        catch (Exception)
        {
            // One of them is at fault; alone it cannot take the others with it.
            events.ForEach(recorded => HandOver([recorded]));
        }
    }

    private Event? Read(ConsumeResult<byte[], byte[]> record)
    {
        if (WireFormat.TryReadEvent(record.Message.Value, record.WireVersion(), out var recorded, out var refusal))
        {
            return recorded;
        }
        KafkaLog.EventIgnored(logger, record.Topic, record.Partition.Value, record.Offset.Value, refusal);
        return null;
    }
}
