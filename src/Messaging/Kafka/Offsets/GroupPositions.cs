using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Telemetry;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka.Offsets;

/// <summary>What a record is to a member of a consumer group.</summary>
internal enum RecordOrder
{
    /// <summary>It comes next.</summary>
    Next,

    /// <summary>It begins what is to be read of another log than before: the topic was created again, or the brokers
    /// have lost the end of the log; or the group's offset was wrong.</summary>
    Anew,

    /// <summary>It must not be taken: it comes again, or another one does.</summary>
    NotYet,
}

/// <summary>Where a member of a consumer group is in its partitions, and whether the logs there are those that the
/// group's offsets belong to (<see cref="LogMark"/>). The client commits no stored offset below the last one that was
/// committed, so an offset that must go back is committed explicitly, before anything is taken from there: whoever dies
/// at any moment leaves nothing unread. Not thread-safe.</summary>
/// <param name="ids">The ids of the topics.</param>
/// <param name="seek">Sets where a client reads on, and has it look at the log first:
/// <see cref="EpochSeek.SeekInLog"/>.</param>
/// <param name="logger">Gets what is lost, and what begins again.</param>
internal sealed class GroupPositions(
    TopicIds ids, Action<IConsumer<byte[], byte[]>, TopicPartitionOffset> seek, ILogger logger)
{
    // Above every offset: whatever comes first begins another log.
    private const long OfFormerLog = long.MaxValue;

    private static readonly TimeSpan DamagedInterval = TimeSpan.FromMilliseconds(100);

    // The next offset of each partition, -1 if the group has none; null if that is not known yet.
    private readonly Dictionary<TopicPartition, long?> _next = [];

    // Where partitions begin whose logs have not been validated yet.
    private readonly Dictionary<TopicPartition, TopicPartitionOffset> _begun = [];

    /// <summary>Whether a topic of this member was created again. It then has to join the group anew, with
    /// a new client: one that knows the former topic may keep asking for epochs of leaders that the new
    /// one has not had yet.</summary>
    public bool AreOfFormerTopics => ids.Changed().Count > 0;

    /// <summary>The next offset of a partition; -1 if it is not known.</summary>
    public long Next(TopicPartition partition) => _next.GetValueOrDefault(partition) ?? -1;

    /// <summary>The offset to commit after a record.</summary>
    public TopicPartitionOffset After(TopicPartition partition, long next, int? leaderEpoch) =>
        new(partition, next, LogMark.Of(ids.Of(partition.Topic), leaderEpoch));

    /// <summary>Stores an offset for the next commit, unless the partition is no longer the client's.</summary>
    public void Store(IConsumer<byte[], byte[]> consumer, TopicPartitionOffset next)
    {
        try
        {
            consumer.StoreOffset(next);
        }
        catch (KafkaException e) when (!e.Error.IsFatal)
        {
            // The client has lost the partition, and may not have said so yet. The next owner takes the
            // same records again.
            KafkaLog.ClientError(logger, $"The offset {next} was not stored: {e.Error.Reason}");
        }
    }

    /// <summary>Notes partitions that the group has assigned to this member.</summary>
    /// <returns>Where the client begins to read them.</returns>
    public IReadOnlyList<TopicPartitionOffset> Assigned(
        IConsumer<byte[], byte[]> consumer, IReadOnlyList<TopicPartition> partitions)
    {
        foreach (var partition in partitions)
        {
            _next[partition] = null;
        }
        try
        {
            return [.. Committed(consumer, partitions).Select(Begin)];
        }
        catch (KafkaException e) when (!e.Error.IsFatal)
        {
            KafkaLog.ClientError(logger, "The group's offsets could not be queried: " + e.Error.Reason);
            return [.. partitions.Select(AtBeginning)];
        }
    }

    /// <summary>Has the client ask the brokers whether the logs of new partitions still have the record before the
    /// offset, by its epoch. They may have lost the end of a log since, which then has grown again, perhaps just up to
    /// the offset, so that no record comes from there. A client asks when it seeks; not when it begins.</summary>
    public void Validate(IConsumer<byte[], byte[]> consumer)
    {
        foreach (var (partition, begin) in _begun)
        {
            try
            {
                seek(consumer, begin);
                _begun.Remove(partition);
            }
            catch (KafkaException e) when (!e.Error.IsFatal)
            {
                // The client has not begun to read it; the next turn tries again.
            }
        }
    }

    /// <summary>Takes an error of the client that is not fatal. After a batch whose checksum is wrong, the client
    /// itself goes on in the middle of it, takes what is there for an offset, and then begins the whole log again. So
    /// it reads the partition from where this member is in it, after a while: the batch stays damaged until another
    /// broker leads the partition.</summary>
    /// <param name="consumer">The client.</param>
    /// <param name="failure">The error.</param>
    /// <param name="wait">Blocks the thread for a time.</param>
    public void Failed(IConsumer<byte[], byte[]> consumer, ConsumeException failure, Action<TimeSpan> wait)
    {
        KafkaLog.ClientError(logger, failure.Error.Reason);
        if (failure.Error.Code == ErrorCode.Local_BadMsg)
        {
            var partition = failure.ConsumerRecord.TopicPartition;
            if (Next(partition) is >= 0 and < OfFormerLog and var next)
            {
                ReadAgain(consumer, partition, next);
            }
            wait(DamagedInterval);
        }
    }

    /// <summary>Has the client read a partition again from one of the records that it has returned.</summary>
    /// <returns>Whether it does; otherwise it goes on where it was.</returns>
    public bool ReadAgain(IConsumer<byte[], byte[]> consumer, TopicPartition partition, long from)
    {
        try
        {
            consumer.Seek(new TopicPartitionOffset(partition, from));
            _next[partition] = from;
            return true;
        }
        catch (KafkaException e) when (!e.Error.IsFatal)
        {
            KafkaLog.ClientError(logger, $"{partition} is not read again from {from}: {e.Error.Reason}");
            return false;
        }
    }

    /// <summary>Forgets partitions that belong to others now.</summary>
    public void Forget(IEnumerable<TopicPartition> partitions)
    {
        foreach (var partition in partitions)
        {
            _next.Remove(partition);
            _begun.Remove(partition);
        }
    }

    /// <summary>Says what a record is; one that is <see cref="RecordOrder.NotYet"/> comes again.</summary>
    /// <param name="consumer">The client, whose position and group offset may be changed.</param>
    /// <param name="record">A record that it has just returned.</param>
    /// <param name="unsettled">The offset of the oldest record that was taken of the partition and is not settled;
    /// above every offset if there is none.</param>
    /// <param name="missed">How many records before it are gone that nobody has taken.</param>
    public RecordOrder Find(
        IConsumer<byte[], byte[]> consumer, ConsumeResult<byte[], byte[]> record, long unsettled, out long missed)
    {
        missed = 0;
        var partition = record.TopicPartition;
        if (!IsBegun(consumer, record))
        {
            return RecordOrder.NotYet;
        }
        var (order, expected) = (RecordOrder.Next, Next(partition));
        if (record.Offset.Value < expected)
        {
            // Of a log that was cut, what is in flight before that is still to be settled.
            var anew = Math.Min(record.Offset.Value, unsettled);
            if (!TryCommit(consumer, After(partition, anew, anew == record.Offset.Value ? record.LeaderEpoch : null)))
            {
                consumer.Seek(new TopicPartitionOffset(partition, record.Offset));
                return RecordOrder.NotYet;
            }
            order = RecordOrder.Anew;
            KafkaLog.OffsetsBeganAgain(
                logger, partition.Topic, partition.Partition.Value, record.Offset.Value,
                expected == OfFormerLog ? "of the former topic" : $"{expected}");
            MessagingMetrics.CountRestart(partition.Topic);
        }
        else if (expected >= 0 && record.Offset.Value > expected)
        {
            // Offsets of these topics have no gaps but those of deleted records.
            missed = record.Offset.Value - expected;
            KafkaLog.RecordsMissed(logger, partition.Topic, partition.Partition.Value, missed, record.Offset.Value);
            MessagingMetrics.CountMissed(partition.Topic, missed);
        }
        _next[partition] = record.Offset.Value + 1;
        return order;
    }

    // A record that comes before the log was validated is not trusted, and comes again.
    private bool IsBegun(IConsumer<byte[], byte[]> consumer, ConsumeResult<byte[], byte[]> record)
    {
        var partition = record.TopicPartition;
        if (_next[partition] is null)
        {
            try
            {
                Begin(Committed(consumer, [partition])[0]);
            }
            catch (KafkaException e) when (!e.Error.IsFatal)
            {
                KafkaLog.ClientError(
                    logger,
                    $"The group's offset of {partition} could not be queried, and nothing is taken from there until it "
                        + $"is known: {e.Error.Reason}");
                consumer.Seek(new TopicPartitionOffset(partition, record.Offset));
                return false;
            }
        }
        if (!_begun.Remove(partition, out var begin))
        {
            return true;
        }
        seek(consumer, begin);
        return false;
    }

    private List<TopicPartitionOffset> Committed(
        IConsumer<byte[], byte[]> consumer, IReadOnlyList<TopicPartition> partitions)
    {
        ids.Require(partitions.Select(partition => partition.Topic));
        return consumer.Committed(partitions, KafkaTimes.Question);
    }

    private TopicPartitionOffset Begin(TopicPartitionOffset committed)
    {
        var (partition, offset) = (committed.TopicPartition, committed.Offset);
        if (offset.IsSpecial)
        {
            _next[partition] = -1;
            return AtBeginning(partition);
        }
        if (!LogMark.Fits(committed.LeaderEpoch, ids.Of(partition.Topic)))
        {
            _next[partition] = OfFormerLog;
            return _begun[partition] = AtBeginning(partition);
        }
        _next[partition] = offset.Value;
        return _begun[partition] = new TopicPartitionOffset(partition, offset, LogMark.EpochOf(committed.LeaderEpoch));
    }

    // The client is never left to ask for itself: at another moment it could be told an offset in a topic that
    // was deleted since.
    private static TopicPartitionOffset AtBeginning(TopicPartition partition) => new(partition, Offset.Beginning);

    private bool TryCommit(IConsumer<byte[], byte[]> consumer, TopicPartitionOffset offset)
    {
        try
        {
            // The stored offset first: it would be committed again later if it were above the committed one.
            consumer.StoreOffset(offset);
            consumer.Commit([offset]);
            return true;
        }
        catch (KafkaException e) when (!e.Error.IsFatal)
        {
            KafkaLog.NotBegunAgain(logger, offset.Topic, offset.Partition.Value, offset.Offset.Value, e.Error.Reason);
            return false;
        }
    }
}
