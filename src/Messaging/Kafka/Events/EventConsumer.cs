using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Telemetry;
using Billing.Wire.V1;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka.Events;

/// <summary>Consumes the event topic as a member of a group, on its own thread: an offset is committed when the sink has taken over everything
/// before it. Brokers and a sink that are away are waited for; a member that waits for longer than the group allows loses its partitions
/// to another one, which takes the same events. A group without offsets begins with the oldest event that the topic holds.</summary>
/// <param name="options">The brokers.</param>
/// <param name="group">The consumer group among whose members the partitions are distributed.</param>
/// <param name="sink">Takes over the events.</param>
/// <param name="topics">Creates the topic if it is missing.</param>
/// <param name="supervisor">Ends the process if the loop fails.</param>
/// <param name="logger">Gets what goes wrong.</param>
public sealed class EventConsumer(
    IOptions<KafkaOptions> options, string group, IEventSink sink, KafkaTopics topics, Supervisor supervisor, ILogger<EventConsumer> logger)
    : Worker(supervisor), IReadyPart
{
    private static readonly TimeSpan RetryMax = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan QueryTimeout = TimeSpan.FromSeconds(2);

    // The next offset of each partition, from the second record on that this member reads of it.
    private readonly Dictionary<TopicPartition, Offset> _next = [];
    private volatile string? _notReady = $"the consumer has not joined its group {group}";
    private volatile bool _areBrokersAway;

    /// <inheritdoc/>
    public string? NotReadyReason => _areBrokersAway ? "no broker answers" : _notReady;

    /// <inheritdoc/>
    public override Task RunAsync(CancellationToken stopping) => RunOnThread(() => Run(stopping));

    private void Run(CancellationToken stopping)
    {
        Insist(() => topics.EnsureSharedAsync(), 0, stopping);
        using var consumer = KafkaClients.Consumer<byte[], byte[]>(
            options.Value.GroupMember(group, group), HandleError, logger,
            builder => builder
                .SetPartitionsAssignedHandler((_, added) =>
                {
                    _notReady = null;
                    KafkaLog.Assigned(logger, string.Join(", ", added));
                })
                .SetPartitionsRevokedHandler((_, revoked) => Forget(revoked))
                .SetPartitionsLostHandler((_, lost) => Forget(lost)));
        using var admin = new DependentAdminClientBuilder(consumer.Handle).Build();
        consumer.Subscribe(Topics.Events);
        KafkaLog.Subscribed(logger, Topics.Events, group);
        while (!stopping.IsCancellationRequested)
        {
            RunTurn(consumer, stopping);
            if (_areBrokersAway)
            {
                LookForBrokers(admin);
            }
        }
        consumer.Close();
        PartitionMetrics.Set(this, []);
    }

    private void RunTurn(IConsumer<byte[], byte[]> consumer, CancellationToken stopping)
    {
        var events = new List<Event>();
        var ends = new Dictionary<TopicPartition, Offset>();
        try
        {
            EventReader.Drain(consumer, record =>
            {
                Follow(consumer, record);
                ends[record.TopicPartition] = _next[record.TopicPartition];
                if (EventReader.Read(record, logger) is { } recorded)
                {
                    events.Add(recorded);
                }
            });
        }
        catch (ConsumeException e) when (!e.Error.IsFatal)
        {
            KafkaLog.ClientError(logger, e.Error.Reason);
        }
        ReportLag(consumer);
        if (ends.Count == 0)
        {
            return;
        }
        _areBrokersAway = false;
        MessagingMetrics.Read(Topics.Events, events.Count);
        Insist(() => sink.TakeAsync(events, stopping), events.Count, stopping);
        foreach (var (partition, end) in ends)
        {
            try
            {
                consumer.StoreOffset(new TopicPartitionOffset(partition, end));
            }
            catch (KafkaException e) when (!e.Error.IsFatal)
            {
                // The partition has another owner by now, which takes the same events again.
                KafkaLog.ClientError(logger, e.Error.Reason);
            }
        }
    }

    // The end offset is that of the last fetch response; no broker is queried.
    private void ReportLag(IConsumer<byte[], byte[]> consumer)
    {
        if (PartitionMetrics.IsOn)
        {
            PartitionMetrics.Set(this, [.. _next.Select(next =>
            {
                var lag = Math.Max(0, consumer.GetWatermarkOffsets(next.Key).High.Value - next.Value.Value);
                return new PartitionState(Topics.Events, next.Key.Partition.Value, lag, lag, 0);
            })]);
        }
    }

    // Offsets of this topic have no gaps but those of deleted records.
    private void Follow(IConsumer<byte[], byte[]> consumer, ConsumeResult<byte[], byte[]> record)
    {
        if (!_next.TryGetValue(record.TopicPartition, out var expected))
        {
            expected = Committed(consumer, record.TopicPartition);
        }
        if (!expected.IsSpecial && record.Offset > expected)
        {
            var missed = record.Offset - expected;
            KafkaLog.EventsMissed(logger, record.Topic, record.Partition.Value, missed, record.Offset.Value);
            sink.Miss(missed);
        }
        _next[record.TopicPartition] = record.Offset + 1;
    }

    private Offset Committed(IConsumer<byte[], byte[]> consumer, TopicPartition partition)
    {
        try
        {
            return consumer.Committed([partition], QueryTimeout).Single().Offset;
        }
        catch (KafkaException e)
        {
            KafkaLog.ClientError(logger, $"It is not known whether {partition} has lost events: {e.Error.Reason}");
            return Offset.Unset;
        }
    }

    // Until it succeeds: what is missing is not the events' fault.
    private void Insist(Func<Task> work, int events, CancellationToken stopping)
    {
        var before = _notReady;
        for (var delay = TimeSpan.FromSeconds(1); ; delay = delay * 2 < RetryMax ? delay * 2 : RetryMax)
        {
            try
            {
                work().GetAwaiter().GetResult();
                _notReady = before;
                return;
            }
            catch (Exception e)
            {
                _notReady = events == 0 ? "the topics are not known yet" : "the events cannot be stored at present";
                KafkaLog.EventsRefused(logger, events, e.Message);
            }
            stopping.WaitHandle.WaitOne(delay);
            stopping.ThrowIfCancellationRequested();
        }
    }

    private void LookForBrokers(IAdminClient admin)
    {
        try
        {
            admin.GetMetadata(Topics.Events, QueryTimeout);
            _areBrokersAway = false;
        }
        catch (KafkaException e) when (!e.Error.IsFatal)
        {
            // It has been logged by the client's own attempts.
        }
    }

    private void HandleError(Confluent.Kafka.Error error)
    {
        KafkaLog.Error(logger, error);
        _areBrokersAway |= error.Code == ErrorCode.Local_AllBrokersDown;
    }

    private void Forget(List<TopicPartitionOffset> partitions) => partitions.ForEach(partition => _next.Remove(partition.TopicPartition));
}
