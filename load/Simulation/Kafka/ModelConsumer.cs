using Billing.Messaging;
using Confluent.Kafka;

namespace Billing.Simulation.Kafka;

/// <summary>The rebalance handlers of a consumer.</summary>
internal sealed record RebalanceHandlers(
    Func<IConsumer<byte[], byte[]>, List<TopicPartition>, IReadOnlyList<TopicPartitionOffset>> Assigned,
    Action<IConsumer<byte[], byte[]>, List<TopicPartitionOffset>> Revoked, Action<List<TopicPartitionOffset>> Lost);

/// <summary>A consumer of the model. Like librdkafka's, it calls the rebalance handlers from within Consume and commits
/// the stored offsets periodically, but none that is below the last committed one, of the leader's epoch and the
/// offset; asks at a seek with an epoch whether the log still has what an epoch ended with, and when it hears of a new
/// leader, and then goes back without a word; and knows no epoch smaller than the largest it has heard of. Unlike
/// librdkafka's, it never blocks: Consume does not wait for records.</summary>
internal sealed partial class ModelConsumer : IConsumer<byte[], byte[]>
{
    private static readonly TimeSpan AutoCommitInterval = TimeSpan.FromMilliseconds(500);

    private readonly Brokers _brokers;
    private readonly Node _node;
    private readonly Action _wake;
    private readonly Group? _group;
    private readonly RebalanceHandlers? _handlers;
    private readonly List<TopicPartition> _assigned = [];
    private readonly Dictionary<TopicPartition, long> _positions = [];
    private readonly Dictionary<TopicPartition, TopicPartitionOffset> _stored = [];

    // The last committed offset that this client knows of.
    private readonly Dictionary<TopicPartition, TopicPartitionOffset> _lastCommitted = [];

    // The epoch of the record before the position; none if that is not known.
    private readonly Dictionary<TopicPartition, int> _epochs = [];

    // The largest epoch of a leader that this client has heard of.
    private readonly Dictionary<TopicPartition, int> _leaders = [];
    private readonly Dictionary<TopicPartition, List<(long Offset, StoredRecord Record)>> _taken = [];
    private readonly HashSet<TopicPartition> _paused = [];
    private readonly List<TopicPartition> _toBeAssigned = [];
    private readonly List<TopicPartition> _toBeRevoked = [];
    private long _committed;
    private bool _evicted;

    /// <summary>Creates a consumer without a group, to which partitions are assigned explicitly.</summary>
    public ModelConsumer(Brokers brokers, Node node, Action wake)
    {
        _brokers = brokers;
        _node = node;
        _wake = wake;
    }

    /// <summary>Creates a member of a consumer group.</summary>
    public ModelConsumer(Brokers brokers, Node node, Action wake, Group group, RebalanceHandlers handlers)
        : this(brokers, node, wake)
    {
        _group = group;
        _handlers = handlers;
    }

    /// <summary>The offset of a record that is damaged where it is stored; null if there is none.</summary>
    public long? Damaged { get; set; }

    public string MemberId => _node.Name;

    public List<TopicPartition> Assignment => [.. _assigned];

    public List<string> Subscription { get; private set; } = [];

    public string Name => _node.Name;

    /// <summary>Whether there is something to consume.</summary>
    public bool HasMore => !_node.ToBrokers.IsCut && HasMoreToTake;

    private bool HasMoreToTake => _evicted || _toBeAssigned.Count > 0 || _toBeRevoked.Count > 0
        || _assigned.Exists(
            p => !_paused.Contains(p) && _positions[p] < _brokers[p].End && _leaders[p] <= _brokers[p].Epoch);

    public void Subscribe(IEnumerable<string> topics)
    {
        Subscription = [.. topics];
        _group!.Join(this);
        _node.OnCrash(() => _group.Silent(this));
    }

    /// <summary>The group assigns a partition, at the next call of <see cref="Consume(TimeSpan)"/>.</summary>
    public void ToBeAssigned(TopicPartition partition)
    {
        _toBeAssigned.Add(partition);
        _wake();
    }

    /// <summary>The group revokes a partition, at the next call of <see cref="Consume(TimeSpan)"/>.</summary>
    public void ToBeRevoked(TopicPartition partition)
    {
        if (!_toBeRevoked.Contains(partition) && _assigned.Contains(partition))
        {
            _toBeRevoked.Add(partition);
            _wake();
        }
    }

    /// <summary>The group has already taken all partitions away.</summary>
    public void Evicted()
    {
        NoteTwoOwners(_node.IsAlive);
        _evicted = true;
        _toBeAssigned.Clear();
        _toBeRevoked.Clear();
    }

    public ConsumeResult<byte[], byte[]> Consume(TimeSpan timeout)
    {
        if (_node.ToBrokers.IsCut)
        {
            // It does not even learn that it has lost its partitions.
            return null!;
        }
        HeedGroup();
        if (_brokers.IsUnavailableTo(_node))
        {
            return null!;
        }
        AutoCommit();
        _assigned.ForEach(HearOfLeader);
        var ready = _assigned.FindAll(
            p => !_paused.Contains(p) && _positions[p] != _brokers[p].End && _leaders[p] == _brokers[p].Epoch);
        return ready.Count == 0 ? null! : Take(_brokers.Dice.Pick(ready));
    }

    public void StoreOffset(TopicPartitionOffset offset)
    {
        if (!_assigned.Contains(offset.TopicPartition))
        {
            throw new KafkaException(new Error(ErrorCode.Local_State, "the partition is not assigned"));
        }
        _stored[offset.TopicPartition] = offset;
        if (_taken.TryGetValue(offset.TopicPartition, out var taken))
        {
            taken.FindAll(record => record.Offset < offset.Offset.Value)
                .ForEach(record => record.Record.IsSettled = true);
            taken.RemoveAll(record => record.Record.IsSettled);
        }
    }

    public List<TopicPartitionOffset> Commit()
    {
        if (!_stored.Values.Any(IsAhead))
        {
            throw new KafkaException(new Error(ErrorCode.Local_NoOffset, "no offset is stored"));
        }
        RequireCommit();
        CommitStored();
        return [];
    }

    public void Commit(IEnumerable<TopicPartitionOffset> offsets)
    {
        RequireCommit();
        foreach (var offset in offsets)
        {
            if (_group!.OwnerOf(offset.TopicPartition) == this)
            {
                _group.Commit(offset);
                _lastCommitted[offset.TopicPartition] = offset;
            }
        }
    }

    private void RequireCommit()
    {
        if (_brokers.IsUnavailableTo(_node))
        {
            throw new KafkaException(new Error(ErrorCode.Local_TimedOut, "no broker answers"));
        }
        if (_evicted)
        {
            throw new KafkaException(new Error(ErrorCode.IllegalGeneration, "the group has moved on"));
        }
        if (_brokers.CommitsRefusedUntil > _brokers.Scheduler.Now)
        {
            throw new KafkaException(
                new Error(ErrorCode.GroupCoordinatorNotAvailable, "the group's coordinator is not available"));
        }
    }

    public void Pause(IEnumerable<TopicPartition> partitions) => _paused.UnionWith(partitions);

    public void Resume(IEnumerable<TopicPartition> partitions)
    {
        _paused.ExceptWith(partitions);
        _wake();
    }

    public void Assign(IEnumerable<TopicPartitionOffset> partitions)
    {
        Unassign();
        foreach (var partition in partitions)
        {
            Add(partition.TopicPartition, partition.Offset == Offset.Beginning
                ? _brokers[partition.TopicPartition].First
                : partition.Offset.Value);
        }
        _wake();
    }

    public void Assign(TopicPartitionOffset partition) => Assign([partition]);

    public void Unassign()
    {
        foreach (var partition in _assigned.ToList())
        {
            Remove(partition);
        }
    }

    public WatermarkOffsets QueryWatermarkOffsets(TopicPartition topicPartition, TimeSpan timeout) =>
        _brokers.IsUnavailableTo(_node)
            ? throw new KafkaException(new Error(ErrorCode.Local_TimedOut, "no broker answers"))
            : new WatermarkOffsets(_brokers[topicPartition].First, _brokers[topicPartition].End);

    public void Close()
    {
        if (!_evicted)
        {
            _handlers!.Revoked(this, [.. _assigned.Select(p => new TopicPartitionOffset(p, _positions[p]))]);
            CommitAtEnd();
            _assigned.ForEach(NoteUnsettled);
            Unassign();
            _group!.Leave(this);
        }
    }

    public void Dispose() => Unassign();

    private ConsumeResult<byte[], byte[]> Take(TopicPartition partition)
    {
        var log = _brokers[partition];
        var offset = _positions[partition];
        if (offset < log.First || offset > log.End)
        {
            if (_group is null)
            {
                throw new ConsumeException(
                    new ConsumeResult<byte[], byte[]>
                    {
                        TopicPartitionOffset = new TopicPartitionOffset(partition, offset),
                    },
                    new Error(ErrorCode.Local_AutoOffsetReset, "the offset is out of range"));
            }
            // As with "auto.offset.reset=earliest".
            _positions[partition] = log.First;
            _epochs.Remove(partition);
            return null!;
        }
        if (offset == Damaged)
        {
            // The client reads on at an offset that it finds in the middle of the batch, and that is out of range.
            _positions[partition] = log.First;
            throw new ConsumeException(
                new ConsumeResult<byte[], byte[]> { TopicPartitionOffset = new(partition, offset) },
                new Error(ErrorCode.Local_BadMsg, "the checksum is wrong"));
        }
        _positions[partition] = offset + 1;
        var stored = log[offset];
        _epochs[partition] = stored.Epoch;
        if (_group is not null)
        {
            _taken[partition].Add((offset, stored));
        }
        return new ConsumeResult<byte[], byte[]>
        {
            TopicPartitionOffset = new TopicPartitionOffset(partition, offset, stored.Epoch),
            Message = new Message<byte[], byte[]>
            {
                Key = stored.Key!,
                Value = stored.Value!,
                Headers = stored.Headers,
                Timestamp = new Timestamp(stored.At, TimestampType.LogAppendTime),
            },
        };
    }

    private void HeedGroup()
    {
        if (_group is null)
        {
            return;
        }
        if (_evicted)
        {
            _evicted = false;
            var lost = _assigned.ConvertAll(p => new TopicPartitionOffset(p, _positions[p]));
            if (lost.Count > 0)
            {
                _handlers!.Lost(lost);
            }
            Unassign();
            _stored.Clear();
            _group.Join(this);
        }
        while (_toBeRevoked.Count > 0)
        {
            Revoke();
        }
        if (_toBeAssigned.Count > 0)
        {
            var added = _toBeAssigned.ToList();
            _toBeAssigned.Clear();
            foreach (var begin in _handlers!.Assigned(this, added))
            {
                Begin(begin);
            }
        }
    }

    private void Begin(TopicPartitionOffset begin)
    {
        var partition = begin.TopicPartition;
        if (begin.Offset == Offset.Unset)
        {
            begin = _group!.CommittedOf(partition);
            if (begin.Offset.Value > 0)
            {
                _lastCommitted[partition] = begin;
            }
        }
        Add(partition, begin.Offset.IsSpecial ? _brokers[partition].First : begin.Offset.Value);
        if (begin.LeaderEpoch is { } epoch)
        {
            _epochs[partition] = epoch;
        }
    }

    private void Revoke()
    {
        var revoked = _toBeRevoked.ToList();
        _toBeRevoked.Clear();
        _handlers!.Revoked(this, revoked.ConvertAll(p => new TopicPartitionOffset(p, _positions[p])));
        CommitAtEnd();
        foreach (var partition in revoked)
        {
            NoteUnsettled(partition);
            Remove(partition);
            // The group may have revoked it again during the handler.
            _toBeRevoked.Remove(partition);
        }
        if (!_evicted)
        {
            revoked.ForEach(_group!.Release);
        }
    }

    private void NoteUnsettled(TopicPartition partition) =>
        NoteTwoOwners(
            _group!.Committed.GetValueOrDefault(partition, _brokers[partition].First) < _positions[partition]);

    // Whoever reads events publishes none.
    private void NoteTwoOwners(bool had) =>
        _brokers.HadTwoOwners |= had && !Subscription.Contains(Topics.Events, StringComparer.Ordinal);

    private void Add(TopicPartition partition, long position)
    {
        _assigned.Add(partition);
        _positions[partition] = position;
        _taken[partition] = [];
        _leaders.TryAdd(partition, _brokers[partition].Epoch);
        _brokers[partition].Watchers.Add(_wake);
    }

    private void Remove(TopicPartition partition)
    {
        _assigned.Remove(partition);
        _positions.Remove(partition);
        _stored.Remove(partition);
        _lastCommitted.Remove(partition);
        _epochs.Remove(partition);
        _taken.Remove(partition);
        _paused.Remove(partition);
        if (_brokers.Find(partition.Topic) is not null)
        {
            _brokers[partition].Watchers.Remove(_wake);
        }
    }

    /// <summary>As the library's, it leaves out the epoch.</summary>
    public void Seek(TopicPartitionOffset tpo)
    {
        _positions[tpo.TopicPartition] =
            tpo.Offset == Offset.Beginning ? _brokers[tpo.TopicPartition].First : tpo.Offset.Value;
        _taken[tpo.TopicPartition].RemoveAll(taken => taken.Offset >= tpo.Offset.Value);
        _epochs.Remove(tpo.TopicPartition);
    }

    /// <summary>A seek with the epoch, as <see cref="Messaging.Kafka.Clients.EpochSeek"/> makes it.</summary>
    public static void SeekInLog(IConsumer<byte[], byte[]> consumer, TopicPartitionOffset begin)
    {
        var model = (ModelConsumer)consumer;
        model.Seek(begin);
        if (begin.LeaderEpoch is { } epoch)
        {
            model._epochs[begin.TopicPartition] = epoch;
            model.Validate(begin.TopicPartition);
        }
    }

    public List<TopicPartitionOffset> Committed(IEnumerable<TopicPartition> partitions, TimeSpan timeout) =>
        _brokers.IsUnavailableTo(_node)
            ? throw new KafkaException(new Error(ErrorCode.Local_TimedOut, "no broker answers"))
            : [.. partitions.Select(_group!.CommittedOf)];

    public Offset Position(TopicPartition partition) =>
        _positions.TryGetValue(partition, out var position) ? position : Offset.Unset;

    public WatermarkOffsets GetWatermarkOffsets(TopicPartition topicPartition) => new(0, _brokers[topicPartition].End);
}
