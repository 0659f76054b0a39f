using System.Text;
using Billing.Messaging;
using Confluent.Kafka;

namespace Billing.Simulation.Kafka;

/// <summary>A record of a topic.</summary>
internal sealed record StoredRecord(byte[]? Key, byte[]? Value, Headers Headers, DateTime At);

/// <summary>The log of a partition. Deleting old records does not change the offsets of the others.</summary>
internal sealed class Log(Brokers brokers, string topic, int number)
{
    private readonly List<StoredRecord> _records = [];

    public TopicPartition Partition { get; } = new(topic, number);

    /// <summary>The offset of the oldest record.</summary>
    public long First { get; private set; }

    /// <summary>The offset of the next record.</summary>
    public long End => First + _records.Count;

    /// <summary>Called after each new record.</summary>
    public List<Action> Watchers { get; } = [];

    /// <summary>Every record ever appended, including deleted ones.</summary>
    public List<StoredRecord> All { get; } = [];

    public StoredRecord this[long offset] => _records[(int)(offset - First)];

    public void Append(StoredRecord record)
    {
        _records.Add(record);
        All.Add(record);
        brokers.Appended?.Invoke(this, record);
        foreach (var notify in Watchers)
        {
            notify();
        }
    }

    /// <summary>Deletes the records before an offset.</summary>
    public void DeleteBefore(long offset)
    {
        var count = (int)(Math.Min(offset, End) - First);
        if (count > 0)
        {
            _records.RemoveRange(0, count);
            First += count;
        }
    }

    /// <summary>Simulates that the topic is deleted and created again: offsets start again at 0.</summary>
    public void StartAgain()
    {
        _records.Clear();
        First = 0;
    }
}

/// <summary>A model of a Kafka cluster: topics with partitions, and consumer groups. The platform's producers and consumers get
/// clients of this model that behave like those of librdkafka.</summary>
internal sealed class Brokers
{
    /// <summary>The largest size of a record, in bytes.</summary>
    public const int RecordBytesMax = 1_000_000;

    private readonly Dictionary<string, Log[]> _topics = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Group> _groups = new(StringComparer.Ordinal);

    public Brokers(Scheduler scheduler, Dice dice, int partitions)
    {
        Scheduler = scheduler;
        Dice = dice;
        foreach (var topic in Topics.AllRequests.Append(Topics.Events))
        {
            Create(topic, partitions);
        }
        Create(Topics.DeadLetters, 1);
    }

    public Scheduler Scheduler { get; }

    public Dice Dice { get; }

    /// <summary>Called with every appended record, for a trace.</summary>
    public Action<Log, StoredRecord>? Appended { get; set; }

    /// <summary>Whether some partition may have had two owners at a time: one that has lost it, or given it up with commands in
    /// flight, and the next owner. Both then work on its accounts, and the order in which their events reach the brokers is not
    /// determined.</summary>
    public bool HadTwoOwners { get; set; }

    /// <summary>Until when no client can reach a broker.</summary>
    public long AwayUntil { get; set; }

    /// <summary>Whether the brokers cannot be reached.</summary>
    public bool IsUnavailable => AwayUntil > Scheduler.Now;

    /// <summary>The longest latency of a record to the brokers, and of the acknowledgement back, in milliseconds.</summary>
    public double LatencyMs { get; set; } = 3;

    public IReadOnlyCollection<Group> Groups => _groups.Values;

    public Log[] Create(string topic, int partitions) =>
        _topics[topic] = [.. Enumerable.Range(0, partitions).Select(number => new Log(this, topic, number))];

    public Log[]? Find(string topic) => _topics.GetValueOrDefault(topic);

    public Log this[TopicPartition partition] => _topics[partition.Topic][partition.Partition.Value];

    public Group Group(string name)
    {
        if (!_groups.TryGetValue(name, out var group))
        {
            _groups[name] = group = new Group(this);
        }
        return group;
    }

    /// <summary>The log of a key's partition, by the hash of the key; a random one without a key.</summary>
    public Log Of(string topic, byte[]? key)
    {
        var logs = _topics[topic];
        return key is null ? logs[Dice.Next(logs.Length)] : logs[(int)(Hash(key) % (uint)logs.Length)];
    }

    /// <summary>Appends a record directly, as a producer that is not part of the platform might.</summary>
    public void Inject(string topic, string? key, byte[]? value, string? version)
    {
        var headers = new Headers();
        if (version is not null)
        {
            headers.Add(Messaging.WireFormat.VersionHeader, Encoding.ASCII.GetBytes(version));
        }
        var bytes = key is null ? null : Encoding.UTF8.GetBytes(key);
        Of(topic, bytes).Append(new StoredRecord(bytes, value, headers, DateTime.UnixEpoch));
    }

    private static uint Hash(byte[] key)
    {
        var hash = 2166136261;
        foreach (var b in key)
        {
            hash = (hash ^ b) * 16777619;
        }
        return hash;
    }
}
