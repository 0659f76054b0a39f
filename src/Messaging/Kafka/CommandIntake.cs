using System.Diagnostics;
using Billing.Messaging.Telemetry;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>What a member of a consumer group does with its client, turn by turn: it drains what is there, hands it to the
/// handler, and stores offsets up to the contiguous watermark of what the handler has settled. It never waits for the
/// handler: when too much is in flight it pauses its partitions and goes on polling, so it stays in the group. For one
/// thread.</summary>
/// <param name="inFlightMax">Unsettled commands at which the partitions are paused.</param>
/// <param name="handler">Takes the commands.</param>
/// <param name="publisher">Where refused records and their senders' answers go.</param>
/// <param name="wait">Lets the thread rest.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">The log.</param>
internal sealed class CommandIntake(
    int inFlightMax, ICommandHandler handler, KafkaAnswerPublisher publisher, Action<TimeSpan> wait, TimeProvider time, ILogger logger)
{
    /// <summary>Records drained at a time, whatever becomes of them: garbage, too, must not hold up hand-over and commits.
    /// </summary>
    public const int DrainMax = 1000;

    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan PollIntervalWhenBusy = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan SettleTimeout = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan BacklogTimeout = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan QueryTimeout = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan StateInterval = TimeSpan.FromSeconds(1);

    private readonly CommandReader _reader = new(publisher);
    private readonly Dictionary<TopicPartition, OffsetWatermark> _watermarks = [];

    // Read and not yet handed to the handler.
    private List<Delivery> _drained = [];

    // Where what is left of former owners ends, by partition, until it is read.
    private readonly Dictionary<TopicPartition, long> _backlog = [];
    private long _backlogNoted;
    private long _readAt;
    private long _statedAt;
    private bool _paused;
    private bool _isMixed;

    /// <summary>Whether the group has given this member partitions.</summary>
    public bool HasJoined { get; private set; }

    /// <summary>Offsets read and not yet passed by a watermark.</summary>
    public int Tracked => _watermarks.Values.Sum(w => w.Count);

    /// <summary>Takes a turn.</summary>
    public void TakeTurn(IConsumer<byte[], byte[]> consumer)
    {
        PauseOrResume(consumer);
        Drain(consumer);
        StoreOffsets(consumer);
        StatePartitions(consumer);
    }

    /// <summary>Waits a while for what is in flight and commits what is settled, before the member leaves its group.</summary>
    public void Leave(IConsumer<byte[], byte[]> consumer)
    {
        HandOver();
        WaitUntilSettled(consumer, [.. _watermarks.Keys]);
        PartitionMetrics.Set(this, []);
    }

    /// <summary>The group has given the member partitions.</summary>
    public void Assigned(IConsumer<byte[], byte[]> consumer, List<TopicPartition> added)
    {
        foreach (var partition in added)
        {
            _watermarks[partition] = new OffsetWatermark();
            MessagingMetrics.Expect(partition.Topic);
        }
        NoteBacklog(consumer, added);
        // New partitions come unpaused, and those from before stay as they are: the next turn makes all of them the same.
        _isMixed = true;
        HasJoined = true;
        KafkaLog.Assigned(logger, string.Join(", ", added));
    }

    /// <summary>The group takes partitions away, once this returns.</summary>
    public void Revoked(IConsumer<byte[], byte[]> consumer, List<TopicPartitionOffset> revoked)
    {
        var partitions = revoked.ConvertAll(r => r.TopicPartition);
        // A revocation comes in the middle of draining; what was drained by then could never settle otherwise.
        HandOver();
        var unsettled = WaitUntilSettled(consumer, partitions);
        Drop(partitions);
        KafkaLog.Revoked(logger, string.Join(", ", partitions), unsettled);
    }

    /// <summary>The group has given partitions to others already.</summary>
    public void Lost(List<TopicPartitionOffset> lost)
    {
        Drop(lost.ConvertAll(l => l.TopicPartition));
        KafkaLog.Lost(logger, string.Join(", ", lost.Select(l => l.TopicPartition)));
    }

    /// <summary>Notes up to where partitions hold what a former owner may have handled in part. All of that is handed over at
    /// once: only then can the events that it left unpublished be published in the order of their versions, whatever order
    /// their commands have been delivered, and expired, in before.</summary>
    private void NoteBacklog(IConsumer<byte[], byte[]> consumer, List<TopicPartition> added)
    {
        try
        {
            foreach (var committed in consumer.Committed(added, QueryTimeout))
            {
                var offsets = consumer.QueryWatermarkOffsets(committed.TopicPartition, QueryTimeout);
                if (Math.Max(committed.Offset.Value, offsets.Low.Value) < offsets.High.Value)
                {
                    _backlog[committed.TopicPartition] = offsets.High.Value;
                }
            }
            _backlogNoted = time.GetTimestamp();
        }
        catch (KafkaException e) when (!e.Error.IsFatal)
        {
            KafkaLog.ClientError(logger, "What is left of partitions' former owners was not looked up: " + e.Error.Reason);
        }
    }

    private void Drain(IConsumer<byte[], byte[]> consumer)
    {
        var record = Consume(consumer, Tracked > 0 ? PollIntervalWhenBusy : PollInterval);
        // One time for all that is drained in one go.
        _readAt = record is null ? 0 : MessagingMetrics.Now;
        for (var taken = 1; record is not null; taken++)
        {
            Take(record);
            record = taken < DrainMax ? Consume(consumer, TimeSpan.Zero) : null;
        }
        if (_backlog.Count == 0 || _paused || time.GetElapsedTime(_backlogNoted) > BacklogTimeout)
        {
            HandOver();
        }
    }

    private void Take(ConsumeResult<byte[], byte[]> record)
    {
        var slot = Track(record);
        try
        {
            if (_reader.Read(record, slot) is { } delivery)
            {
                _drained.Add(delivery);
            }
        }
        catch (Exception e) when (e is not KafkaException)
        {
            // Whatever it is that reading it broke, it is about this record, and would break it again.
            MessagingMetrics.PutAside(record.Topic, "unreadable");
            publisher.DeadLetters.Publish(record, "the record could not be read: " + e.Message, slot.Settle);
        }
        if (_backlog.TryGetValue(record.TopicPartition, out var end) && record.Offset.Value >= end - 1)
        {
            _backlog.Remove(record.TopicPartition);
        }
    }

    private OffsetWatermark.Slot Track(ConsumeResult<byte[], byte[]> record)
    {
        var watermark = _watermarks[record.TopicPartition];
        if (!watermark.IsNext(record.Offset.Value))
        {
            // What the old log's offsets said is of no use for the new one.
            KafkaLog.OffsetsBeganAgain(logger, record.Topic, record.Partition.Value, record.Offset.Value);
            _watermarks[record.TopicPartition] = watermark = new OffsetWatermark();
        }
        MessagingMetrics.Read(record.Topic);
        return watermark.Track(record.Offset.Value, _readAt);
    }

    private void HandOver()
    {
        _backlog.Clear();
        if (_drained.Count > 0)
        {
            var deliveries = _drained;
            _drained = [];
            handler.Accept(deliveries);
        }
    }

    private ConsumeResult<byte[], byte[]>? Consume(IConsumer<byte[], byte[]> consumer, TimeSpan timeout)
    {
        try
        {
            return consumer.Consume(timeout);
        }
        catch (ConsumeException e) when (!e.Error.IsFatal)
        {
            KafkaLog.ClientError(logger, e.Error.Reason);
            return null;
        }
    }

    private void PauseOrResume(IConsumer<byte[], byte[]> consumer)
    {
        // One command that does not settle holds its partition's watermark, and all that is settled behind it stays tracked.
        var inFlight = Math.Max(handler.InFlight, Tracked);
        var pause = inFlight >= (_paused ? inFlightMax - (inFlightMax / 4) : inFlightMax);
        if (pause == _paused && !_isMixed)
        {
            return;
        }
        if (pause)
        {
            consumer.Pause(consumer.Assignment);
            KafkaLog.Paused(logger, inFlight);
        }
        else
        {
            consumer.Resume(consumer.Assignment);
            KafkaLog.Resumed(logger);
        }
        (_paused, _isMixed) = (pause, false);
    }

    private void StoreOffsets(IConsumer<byte[], byte[]> consumer)
    {
        foreach (var (partition, watermark) in _watermarks)
        {
            if (watermark.TryAdvance(out var next))
            {
                consumer.StoreOffset(new TopicPartitionOffset(partition, next));
            }
        }
    }

    private void StatePartitions(IConsumer<byte[], byte[]> consumer)
    {
        if (!PartitionMetrics.IsOn || (_statedAt != 0 && time.GetElapsedTime(_statedAt) < StateInterval))
        {
            return;
        }
        _statedAt = time.GetTimestamp();
        try
        {
            PartitionMetrics.Set(this, [.. _watermarks.Select(w => StateOf(w.Key, w.Value, consumer))]);
        }
        catch (KafkaException e) when (!e.Error.IsFatal)
        {
            // The next turn but some says it; nobody lives by it.
            KafkaLog.ClientError(logger, "How far the partitions are could not be told: " + e.Error.Reason);
        }
    }

    // The end is what the last fetch said: nobody is asked.
    private static PartitionState StateOf(TopicPartition partition, OffsetWatermark watermark, IConsumer<byte[], byte[]> consumer)
    {
        var end = consumer.GetWatermarkOffsets(partition).High.Value;
        var position = consumer.Position(partition);
        var next = watermark.Count > 0 ? watermark.Oldest : position.Value;
        var age = watermark.OldestReadAt is not 0 and var readAt ? Stopwatch.GetElapsedTime(readAt).TotalSeconds : 0;
        // Until the first fetch neither is known.
        return new PartitionState(
            partition.Topic, partition.Partition.Value,
            end > 0 && position.Value >= 0 ? Math.Max(0, end - position.Value) : 0,
            end > 0 && next >= 0 ? Math.Max(0, end - next) : 0,
            age);
    }

    private void Drop(List<TopicPartition> partitions)
    {
        foreach (var partition in partitions)
        {
            _watermarks.Remove(partition);
            _backlog.Remove(partition);
        }
        handler.Forget(partitions.ConvertAll(p => new SourcePartition(p.Topic, p.Partition.Value)));
    }

    /// <summary>Waits, but not for long, until the partitions' commands are settled, and commits what is.</summary>
    /// <returns>How many are not: their next owner gets them again and finds the receipts of those already recorded.
    /// </returns>
    private int WaitUntilSettled(IConsumer<byte[], byte[]> consumer, List<TopicPartition> partitions)
    {
        var start = time.GetTimestamp();
        while (true)
        {
            StoreOffsets(consumer);
            var unsettled = partitions.Sum(p => _watermarks.TryGetValue(p, out var watermark) ? watermark.Count : 0);
            if (unsettled == 0 || time.GetElapsedTime(start) > SettleTimeout)
            {
                CommitStored(consumer);
                return unsettled;
            }
            wait(PollIntervalWhenBusy);
        }
    }

    private void CommitStored(IConsumer<byte[], byte[]> consumer)
    {
        try
        {
            consumer.Commit();
        }
        catch (KafkaException e) when (e.Error.Code == ErrorCode.Local_NoOffset)
        {
            // Nothing was settled since the last commit.
        }
        catch (KafkaException e)
        {
            KafkaLog.ClientError(logger, "Offsets were not committed: " + e.Error.Reason);
        }
    }
}
