using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.Offsets;
using Billing.Messaging.Telemetry;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka.Events;

/// <summary>Consumes the event topic as a member of a group, on its own thread: an offset is committed when the sink
/// has taken over everything before it. Brokers and a sink that are away are waited for; a member that waits for longer
/// than the group allows loses its partitions to another one, which takes the same events. A group without offsets, or
/// whose offsets belong to another log, begins with the oldest event that the topic holds.</summary>
/// <param name="options">The brokers.</param>
/// <param name="group">The consumer group among whose members the partitions are distributed.</param>
/// <param name="sink">Takes over the events.</param>
/// <param name="topics">Creates the topic if it is missing.</param>
/// <param name="supervisor">Ends the process if the loop fails.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">Gets what goes wrong.</param>
public sealed class EventConsumer(
    IOptions<KafkaOptions> options, string group, IEventSink sink, KafkaTopics topics, Supervisor supervisor,
    TimeProvider time, ILogger<EventConsumer> logger)
    : Worker(supervisor), IReadyPart
{
    private static readonly TimeSpan RetryMax = TimeSpan.FromSeconds(10);

    private volatile string? _notReady = $"the consumer has not joined its group {group}";
    private volatile bool _areBrokersAway;

    /// <inheritdoc/>
    public string? NotReadyReason => _areBrokersAway ? "no broker answers" : _notReady;

    /// <inheritdoc/>
    public override Task RunAsync(CancellationToken stopping) => RunOnThread(() => Run(stopping));

    private void Run(CancellationToken stopping)
    {
        Insist(() => topics.EnsureSharedAsync(), 0, stopping);
        while (!stopping.IsCancellationRequested)
        {
            RunMember(stopping);
        }
        PartitionMetrics.Set(this, []);
    }

    private void RunMember(CancellationToken stopping)
    {
        GroupPositions? positions = null;
        using var consumer = KafkaClients.Consumer<byte[], byte[]>(
            options.Value.GroupMember(group, group), HandleError, logger,
            builder => builder
                .SetPartitionsAssignedHandler((consumer, added) =>
                {
                    _notReady = null;
                    KafkaLog.Assigned(logger, string.Join(", ", added));
                    return (IEnumerable<TopicPartitionOffset>)positions!.Assigned(consumer, added);
                })
                .SetPartitionsRevokedHandler((_, revoked) => positions!.Forget(revoked.Select(r => r.TopicPartition)))
                .SetPartitionsLostHandler((_, lost) => positions!.Forget(lost.Select(l => l.TopicPartition))));
        using var admin = new DependentAdminClientBuilder(consumer.Handle).Build();
        positions = new GroupPositions(
            new TopicIds([Topics.Events], TopicIds.From(admin), KafkaTimes.TopicLook, time, logger),
            EpochSeek.SeekInLog, logger);
        var turns = new EventTurns(positions, sink, interval => Task.Delay(interval, time).Wait(), logger);
        consumer.Subscribe(Topics.Events);
        KafkaLog.Subscribed(logger, Topics.Events, group);
        while (!stopping.IsCancellationRequested && !positions.AreOfFormerTopics)
        {
            RunTurn(consumer, turns, positions, stopping);
            if (_areBrokersAway)
            {
                LookForBrokers(admin);
            }
        }
        consumer.Close();
    }

    private void RunTurn(
        IConsumer<byte[], byte[]> consumer, EventTurns turns, GroupPositions positions, CancellationToken stopping)
    {
        var turn = turns.Read(consumer);
        ReportLag(consumer, positions);
        if (turn is null)
        {
            return;
        }
        _areBrokersAway = false;
        MessagingMetrics.Read(Topics.Events, turn.Events.Count);
        Insist(() => sink.TakeAsync(turn.Events, stopping), turn.Events.Count, stopping);
        turns.Settle(consumer, turn);
    }

    // The end offset is that of the last fetch response; no broker is queried.
    private void ReportLag(IConsumer<byte[], byte[]> consumer, GroupPositions positions)
    {
        if (PartitionMetrics.IsOn)
        {
            PartitionMetrics.Set(
                this, [.. consumer.Assignment.Where(partition => positions.Next(partition) >= 0).Select(partition =>
                {
                    var lag = Math.Max(
                        0, consumer.GetWatermarkOffsets(partition).High.Value - positions.Next(partition));
                    return new PartitionState(Topics.Events, partition.Partition.Value, lag, lag, 0);
                })]);
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
            admin.GetMetadata(Topics.Events, KafkaTimes.Question);
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
}
