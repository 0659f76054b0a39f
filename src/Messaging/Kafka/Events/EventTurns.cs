using Billing.Messaging.Kafka.Offsets;
using Billing.Wire.V1;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka.Events;

/// <summary>What a member of a group has read of the event topic in one turn.</summary>
/// <param name="Events">The events, in their order.</param>
/// <param name="Ends">The next offset of each partition.</param>
internal sealed record EventTurn(IReadOnlyList<Event> Events, IReadOnlyCollection<TopicPartitionOffset> Ends);

/// <summary>Reads the event topic as a member of a group, one turn after the other. Not thread-safe.</summary>
/// <param name="positions">Where the member is.</param>
/// <param name="sink">Is told of what the topic has lost.</param>
/// <param name="wait">Blocks the thread for a time.</param>
/// <param name="logger">Gets what goes wrong.</param>
internal sealed class EventTurns(GroupPositions positions, IEventSink sink, Action<TimeSpan> wait, ILogger logger)
{
    /// <summary>Reads the records that are available.</summary>
    /// <returns>Null if there are none.</returns>
    public EventTurn? Read(IConsumer<byte[], byte[]> consumer)
    {
        var events = new List<Event>();
        var (begins, ends) =
            (new Dictionary<TopicPartition, long>(), new Dictionary<TopicPartition, TopicPartitionOffset>());
        positions.Validate(consumer);
        try
        {
            EventReader.Drain(consumer, record =>
            {
                if (positions.Find(
                    consumer, record, begins.GetValueOrDefault(record.TopicPartition, long.MaxValue),
                    out var missed) == RecordOrder.NotYet)
                {
                    return;
                }
                if (missed > 0)
                {
                    sink.Miss(missed);
                }
                begins[record.TopicPartition] = Math.Min(
                    record.Offset.Value, begins.GetValueOrDefault(record.TopicPartition, long.MaxValue));
                ends[record.TopicPartition] = positions.After(
                    record.TopicPartition, record.Offset.Value + 1, record.LeaderEpoch);
                if (EventReader.Read(record, logger) is { } recorded)
                {
                    events.Add(recorded);
                }
            });
        }
        catch (ConsumeException e) when (!e.Error.IsFatal)
        {
            positions.Failed(consumer, e, wait);
        }
        return ends.Count == 0 ? null : new EventTurn(events, ends.Values);
    }

    /// <summary>Stores the offsets of a turn whose events are taken over.</summary>
    public void Settle(IConsumer<byte[], byte[]> consumer, EventTurn turn)
    {
        foreach (var end in turn.Ends)
        {
            positions.Store(consumer, end);
        }
    }
}
