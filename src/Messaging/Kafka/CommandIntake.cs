using System.Diagnostics;
using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.Offsets;
using Billing.Messaging.Telemetry;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>The consumer loop of a member of a consumer group, one turn per call: it consumes the available
/// records, hands them to the handler, and stores the offsets up to the watermark, below which the handler has
/// settled all. It never waits for the handler: when too many commands are in flight it pauses its partitions and
/// continues to poll, so that it stays in the group. Not thread-safe; <paramref name="wait"/> blocks the thread
/// for a time, and after <paramref name="fencedMax"/> a partition with a later owner is read again if the group
/// has not taken it away.</summary>
internal sealed class CommandIntake(
    int inFlightMax, CommandMemory memory, TimeSpan fencedMax, ICommandHandler handler, KafkaAnswerPublisher publisher,
    GroupPositions positions, Action<TimeSpan> wait, TimeProvider time, ILogger logger)
{
    /// <summary>Largest number of records consumed per turn, including invalid ones, so that invalid records cannot
    /// delay handing over and committing the valid ones.</summary>
    public const int DrainMax = 1000;

    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan PollIntervalWhenBusy = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan SettleTimeout = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan BacklogTimeout = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan ReportInterval = TimeSpan.FromSeconds(1);

    private readonly CommandReader _reader = new(publisher, time);
    private readonly Dictionary<TopicPartition, OffsetWatermark> _watermarks = [];
    private readonly Dictionary<TopicPartition, PartitionAssignment> _assignments = [];

    // Deliveries read and not yet handed to the handler.
    private List<Delivery> _drained = [];

    // The end offset of the previous owner's backlog, by partition, until it is reached.
    private readonly Dictionary<TopicPartition, long> _backlog = [];
    private long _backlogSince;
    private long _readAt;
    private long _reportedAt;
    private bool _paused;
    private bool _isMixed;

    /// <summary>Whether the group has assigned partitions to this member.</summary>
    public bool HasJoined { get; private set; }

    /// <summary>Number of offsets read and not yet passed by a watermark.</summary>
    public int Tracked => _watermarks.Values.Sum(w => w.Count);

    /// <summary>Runs one turn of the loop.</summary>
    /// <returns>False if the member has to leave its group and join it with a new client and a new intake:
    /// a topic was created again.</returns>
    public bool RunTurn(IConsumer<byte[], byte[]> consumer)
    {
        if (positions.AreOfFormerTopics)
        {
            return false;
        }
        ReadAgain(consumer);
        PauseOrResume(consumer);
        if (!_paused)
        {
            positions.Validate(consumer);
        }
        Drain(consumer);
        StoreOffsets(consumer);
        ReportPartitions(consumer);
        return true;
    }

    /// <summary>Waits a limited time for the commands in flight and commits the settled offsets, before the member
    /// leaves its group.</summary>
    public void Leave(IConsumer<byte[], byte[]> consumer)
    {
        HandOver();
        WaitUntilSettled(consumer, [.. _watermarks.Keys]);
        PartitionMetrics.Set(this, []);
    }

    /// <summary>Handles the assignment of partitions to this member.</summary>
    /// <returns>Where the client begins to read them.</returns>
    public IReadOnlyList<TopicPartitionOffset> Assigned(IConsumer<byte[], byte[]> consumer, List<TopicPartition> added)
    {
        foreach (var partition in added)
        {
            _watermarks[partition] = new OffsetWatermark();
            _assignments[partition] = Begin(Of(partition));
            MessagingMetrics.InitialiseDeadLetters(partition.Topic);
        }
        var begins = positions.Assigned(consumer, added);
        FindBacklog(consumer, begins);
        // New partitions are not paused and the old ones keep their state: the next turn sets all of them
        // to the same state.
        _isMixed = true;
        HasJoined = true;
        KafkaLog.Assigned(logger, string.Join(", ", added));
        return begins;
    }

    /// <summary>Handles the revocation of partitions; the group reassigns them when this returns.</summary>
    public void Revoked(IConsumer<byte[], byte[]> consumer, List<TopicPartitionOffset> revoked)
    {
        var partitions = revoked.ConvertAll(r => r.TopicPartition);
        // The revocation callback runs inside Consume; what was consumed before it could not settle otherwise.
        HandOver();
        var unsettled = WaitUntilSettled(consumer, partitions);
        Drop(partitions);
        positions.Forget(partitions);
        KafkaLog.Revoked(logger, string.Join(", ", partitions), unsettled);
    }

    /// <summary>Handles the loss of partitions that the group has already assigned to other members.</summary>
    public void Lost(List<TopicPartitionOffset> lost)
    {
        Drop(lost.ConvertAll(l => l.TopicPartition));
        positions.Forget(lost.Select(l => l.TopicPartition));
        KafkaLog.Lost(logger, string.Join(", ", lost.Select(l => l.TopicPartition)));
    }

    /// <summary>Finds the end of each partition's backlog: the uncommitted commands that a previous owner may have
    /// processed in part. The whole backlog is handed over at once. Only then can the events that the previous owner
    /// left unpublished be published in the order of their versions, regardless of the order in which their commands
    /// were delivered and expired before.</summary>
    private void FindBacklog(IConsumer<byte[], byte[]> consumer, IReadOnlyList<TopicPartitionOffset> begins)
    {
        try
        {
            foreach (var begin in begins)
            {
                var offsets = consumer.QueryWatermarkOffsets(begin.TopicPartition, KafkaTimes.Question);
                if (Math.Max(begin.Offset.Value, offsets.Low.Value) < offsets.High.Value)
                {
                    _backlog[begin.TopicPartition] = offsets.High.Value;
                }
            }
            _backlogSince = time.GetTimestamp();
        }
        catch (KafkaException e) when (!e.Error.IsFatal)
        {
            KafkaLog.ClientError(logger, "The end of the backlog could not be determined: " + e.Error.Reason);
        }
    }

    private void Drain(IConsumer<byte[], byte[]> consumer)
    {
        var record = Consume(consumer, Tracked > 0 ? PollIntervalWhenBusy : PollInterval);
        // One read time for all records of the turn.
        _readAt = record is null ? 0 : MessagingMetrics.Now;
        for (var taken = 1; record is not null; taken++)
        {
            Take(consumer, record);
            record = taken < DrainMax && memory.HasRoom ? Consume(consumer, TimeSpan.Zero) : null;
        }
        if (_backlog.Count == 0 || _paused || time.GetElapsedTime(_backlogSince) > BacklogTimeout)
        {
            HandOver();
        }
    }

    private void Take(IConsumer<byte[], byte[]> consumer, ConsumeResult<byte[], byte[]> record)
    {
        var watermark = _watermarks[record.TopicPartition];
        var order = positions.Find(consumer, record, watermark.Count > 0 ? watermark.Oldest : long.MaxValue, out _);
        if (order == RecordOrder.NotYet)
        {
            return;
        }
        if (order == RecordOrder.Anew)
        {
            // The offsets of the former log are meaningless in this one.
            watermark.Cut(record.Offset.Value);
            _backlog.Remove(record.TopicPartition);
        }
        MessagingMetrics.Read(record.Topic);
        var slot = watermark.Track(record.Offset.Value, _readAt, record.LeaderEpoch);
        slot.Take(memory, record.Message.Value?.Length ?? 0);
        try
        {
            if (_reader.Read(record, slot, _assignments[record.TopicPartition]) is { } delivery)
            {
                _drained.Add(delivery);
            }
        }
        catch (Exception e) when (e is not KafkaException)
        {
            // Any other error is caused by this record, and would occur again if the record were read again.
            MessagingMetrics.CountDeadLetter(record.Topic, "unreadable");
            publisher.DeadLetters.Publish(record, "the record could not be read: " + e.Message, slot.Settle);
        }
        if (_backlog.TryGetValue(record.TopicPartition, out var end) && record.Offset.Value >= end - 1)
        {
            _backlog.Remove(record.TopicPartition);
        }
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
            positions.Failed(consumer, e, wait);
            return null;
        }
    }

    private void PauseOrResume(IConsumer<byte[], byte[]> consumer)
    {
        // A command that does not settle holds back its partition's watermark, so settled offsets
        // behind it stay tracked.
        var inFlight = Math.Max(handler.InFlight, Tracked);
        var pause = _paused
            ? inFlight >= inFlightMax - (inFlightMax / 4) || !memory.HasMuchRoom
            : inFlight >= inFlightMax || !memory.HasRoom;
        if (pause == _paused && !_isMixed)
        {
            return;
        }
        if (pause)
        {
            consumer.Pause(consumer.Assignment);
            KafkaLog.Paused(logger, inFlight, MemoryBudget.Text(memory.Bytes));
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
                positions.Store(consumer, positions.After(partition, next, watermark.LeaderEpoch));
            }
        }
    }

    private void ReportPartitions(IConsumer<byte[], byte[]> consumer)
    {
        if (!PartitionMetrics.IsOn || (_reportedAt != 0 && time.GetElapsedTime(_reportedAt) < ReportInterval))
        {
            return;
        }
        _reportedAt = time.GetTimestamp();
        try
        {
            PartitionMetrics.Set(this, [.. _watermarks.Select(w => StateOf(w.Key, w.Value, consumer))]);
        }
        catch (KafkaException e) when (!e.Error.IsFatal)
        {
            // Only metrics depend on it; the next report replaces this one.
            KafkaLog.ClientError(logger, "The state of the partitions could not be determined: " + e.Error.Reason);
        }
    }

    // The end offset is that of the last fetch response; no broker is queried.
    private static PartitionState StateOf(
        TopicPartition partition, OffsetWatermark watermark, IConsumer<byte[], byte[]> consumer)
    {
        var end = consumer.GetWatermarkOffsets(partition).High.Value;
        var position = consumer.Position(partition);
        var next = watermark.Count > 0 ? watermark.Oldest : position.Value;
        var age = watermark.OldestReadAt is not 0 and var readAt ? Stopwatch.GetElapsedTime(readAt).TotalSeconds : 0;
        // End and position are unknown before the first fetch.
        return new PartitionState(
            partition.Topic, partition.Partition.Value,
            end > 0 && position.Value >= 0 ? Math.Max(0, end - position.Value) : 0,
            end > 0 && next >= 0 ? Math.Max(0, end - next) : 0,
            age);
    }

    private void Drop(IReadOnlyList<TopicPartition> partitions)
    {
        foreach (var partition in partitions)
        {
            _watermarks.Remove(partition);
            _backlog.Remove(partition);
            if (_assignments.Remove(partition, out var assignment))
            {
                assignment.End();
            }
        }
    }

    private PartitionAssignment Begin(SourcePartition partition) =>
        new(partition, (long)(fencedMax.TotalSeconds * time.TimestampFrequency));

    private static SourcePartition Of(TopicPartition partition) => new(partition.Topic, partition.Partition.Value);

    /// <summary>Reads partitions again whose assignments have ended although the group has not taken them away:
    /// from the watermark, as if they had been assigned anew.</summary>
    private void ReadAgain(IConsumer<byte[], byte[]> consumer)
    {
        var now = time.GetTimestamp();
        foreach (var (partition, assignment) in _assignments.Where(a => a.Value.ReadAgainAt is not 0 and var at
            && at <= now).ToList())
        {
            var (watermark, end) = (_watermarks[partition], positions.Next(partition));
            if (watermark.Count > 0)
            {
                if (!positions.ReadAgain(consumer, partition, watermark.Oldest))
                {
                    continue;
                }
                // The rest of what was read is delivered at once, as after any assignment: see FindBacklog.
                (_backlog[partition], _backlogSince) = (end, now);
                watermark.Cut(watermark.Oldest);
                _drained.FindAll(delivery => delivery.Assignment == assignment).ForEach(delivery => delivery.Abandon());
                _drained.RemoveAll(delivery => delivery.Assignment == assignment);
            }
            _assignments[partition] = Begin(assignment.Partition);
            KafkaLog.StartedOver(logger, partition.ToString());
        }
    }

    /// <summary>Waits, at most <see cref="SettleTimeout"/>, until the partitions' commands are settled, and commits
    /// the settled offsets.</summary>
    /// <returns>The number of unsettled commands. They are delivered again to the partition's next owner, which finds
    /// the receipts of those already recorded.</returns>
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
            // No command was settled since the last commit.
        }
        catch (KafkaException e)
        {
            KafkaLog.ClientError(logger, "Offsets were not committed: " + e.Error.Reason);
        }
    }
}
