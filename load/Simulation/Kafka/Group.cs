using Confluent.Kafka;

namespace Billing.Simulation.Kafka;

/// <summary>A consumer group with cooperative rebalancing: a partition to be moved is first revoked from its owner,
/// which may take some time, and then assigned to another member. A member that is silent for longer than the session
/// timeout loses its partitions without being asked.</summary>
internal sealed class Group(Brokers brokers)
{
    /// <summary>The time without a heartbeat after which a member counts as gone.</summary>
    public static readonly TimeSpan SessionTimeout = TimeSpan.FromSeconds(3.5);

    private readonly List<ModelConsumer> _members = [];
    private readonly Dictionary<TopicPartition, ModelConsumer> _owners = [];
    private readonly Dictionary<TopicPartition, List<TopicPartitionOffset>> _commits = [];

    /// <summary>The committed offsets.</summary>
    public Dictionary<TopicPartition, long> Committed { get; } = [];

    /// <summary>The leaders' epochs that were committed with the offsets.</summary>
    public Dictionary<TopicPartition, int> CommittedEpochs { get; } = [];

    /// <summary>Commits an offset.</summary>
    public void Commit(TopicPartitionOffset offset)
    {
        var commits =
            _commits.TryGetValue(offset.TopicPartition, out var known) ? known : _commits[offset.TopicPartition] = [];
        commits.Add(offset);
        Committed[offset.TopicPartition] = offset.Offset.Value;
        if (offset.LeaderEpoch is { } epoch)
        {
            CommittedEpochs[offset.TopicPartition] = epoch;
        }
        else
        {
            CommittedEpochs.Remove(offset.TopicPartition);
        }
    }

    /// <summary>Takes commits of a partition back, as after an unclean election in the topic of the offsets:
    /// the one before them counts.</summary>
    public void TakeBack(TopicPartition partition, int commits)
    {
        Uncommit(partition);
        var left = _commits[partition].SkipLast(commits).ToList();
        if (left.LastOrDefault() is { } before)
        {
            left.RemoveAt(left.Count - 1);
            _commits[partition] = left;
            Commit(before);
        }
    }

    /// <summary>Forgets the offset of a partition.</summary>
    public void Uncommit(TopicPartition partition)
    {
        Committed.Remove(partition);
        CommittedEpochs.Remove(partition);
    }

    /// <summary>The committed offset of a partition; unset if there is none.</summary>
    public TopicPartitionOffset CommittedOf(TopicPartition partition) =>
        Committed.TryGetValue(partition, out var offset)
            ? new TopicPartitionOffset(
                partition, offset, CommittedEpochs.TryGetValue(partition, out var epoch) ? epoch : null)
            : new TopicPartitionOffset(partition, Offset.Unset);

    /// <summary>The owner of a partition; null if it is not assigned.</summary>
    public ModelConsumer? OwnerOf(TopicPartition partition) => _owners.GetValueOrDefault(partition);

    public void Join(ModelConsumer member)
    {
        _members.Add(member);
        Rebalance();
    }

    /// <summary>Removes a member that leaves in an orderly way.</summary>
    public void Leave(ModelConsumer member)
    {
        Remove(member);
        Rebalance();
    }

    /// <summary>A member's process has crashed: the group notices at the session timeout.</summary>
    public void Silent(ModelConsumer member) => brokers.Scheduler.After(SessionTimeout, null, () => Evict(member));

    /// <summary>Takes all partitions from a silent member.</summary>
    public void Evict(ModelConsumer member)
    {
        if (_members.Contains(member))
        {
            member.Evicted();
            Remove(member);
            Rebalance();
        }
    }

    /// <summary>Takes all partitions from a process.</summary>
    public void Evict(string memberId)
    {
        if (_members.Find(member => member.MemberId == memberId) is { } member)
        {
            Evict(member);
        }
    }

    /// <summary>A member has given up a revoked partition.</summary>
    public void Release(TopicPartition partition)
    {
        _owners.Remove(partition);
        Rebalance();
    }

    /// <summary>Assigns partitions without an owner, and revokes partitions from members with too many.</summary>
    public void Rebalance()
    {
        if (_members.Count == 0)
        {
            return;
        }
        foreach (var topic in _members[0].Subscription)
        {
            foreach (var log in brokers.Find(topic)!)
            {
                Place(log.Partition, LeastLoaded());
            }
        }
    }

    private void Place(TopicPartition partition, ModelConsumer wanted)
    {
        if (!_owners.TryGetValue(partition, out var owner))
        {
            _owners[partition] = wanted;
            wanted.ToBeAssigned(partition);
        }
        else if (owner != wanted && Load(owner) > Load(wanted) + 1)
        {
            owner.ToBeRevoked(partition);
        }
    }

    /// <summary>Revokes a random partition from its owner.</summary>
    public void MoveOne(Dice dice)
    {
        if (_members.Count > 1 && _owners.Count > 0)
        {
            var (partition, owner) = _owners.ElementAt(dice.Next(_owners.Count));
            owner.ToBeRevoked(partition);
        }
    }

    private void Remove(ModelConsumer member)
    {
        _members.Remove(member);
        foreach (var partition in _owners.Where(o => o.Value == member).Select(o => o.Key).ToList())
        {
            _owners.Remove(partition);
        }
    }

    private ModelConsumer LeastLoaded() => _members.MinBy(Load)!;

    private int Load(ModelConsumer member) => _owners.Values.Count(owner => owner == member);
}
