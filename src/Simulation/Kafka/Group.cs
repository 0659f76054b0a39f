using Confluent.Kafka;

namespace Billing.Simulation.Kafka;

/// <summary>A consumer group with cooperative rebalances: a partition that is to move is first revoked from the member that
/// has it, which may take its time, and then given to the other. A member that is silent for longer than its session loses
/// what it has without being asked.</summary>
internal sealed class Group(Brokers brokers)
{
    /// <summary>Silence after which a member counts as gone.</summary>
    public static readonly TimeSpan SessionTimeout = TimeSpan.FromSeconds(3.5);

    private readonly List<ModelConsumer> _members = [];
    private readonly Dictionary<TopicPartition, ModelConsumer> _owners = [];

    /// <summary>The offsets that are committed.</summary>
    public Dictionary<TopicPartition, long> Committed { get; } = [];

    /// <summary>Who has a partition.</summary>
    public ModelConsumer? OwnerOf(TopicPartition partition) => _owners.GetValueOrDefault(partition);

    public void Join(ModelConsumer member)
    {
        _members.Add(member);
        Rebalance();
    }

    /// <summary>A member leaves in good order.</summary>
    public void Leave(ModelConsumer member)
    {
        Remove(member);
        Rebalance();
    }

    /// <summary>A member's process has crashed: the group finds out when its session is over.</summary>
    public void Silent(ModelConsumer member) => brokers.Scheduler.After(SessionTimeout, null, () => Evict(member));

    /// <summary>Takes what a silent member has away from it.</summary>
    public void Evict(ModelConsumer member)
    {
        if (_members.Contains(member))
        {
            member.Evicted();
            Remove(member);
            Rebalance();
        }
    }

    /// <summary>Takes what a process has away from it.</summary>
    public void Evict(string memberId)
    {
        if (_members.Find(member => member.MemberId == memberId) is { } member)
        {
            Evict(member);
        }
    }

    /// <summary>A member has given a partition up.</summary>
    public void Release(TopicPartition partition)
    {
        _owners.Remove(partition);
        Rebalance();
    }

    /// <summary>Gives partitions that nobody has to members, and has members give up what others should have.</summary>
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

    /// <summary>Has a member give some partition up, for no reason that it knows of.</summary>
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
