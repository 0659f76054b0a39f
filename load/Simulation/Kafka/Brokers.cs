using System.Globalization;
using System.Text;
using Billing.Hosting;
using Billing.Messaging;
using Confluent.Kafka;

namespace Billing.Simulation.Kafka;

/// <summary>A record of a topic.</summary>
/// <param name="Key">Its key.</param>
/// <param name="Value">Its value.</param>
/// <param name="Headers">Its headers.</param>
/// <param name="At">When it was appended, by the clock of its leader.</param>
internal sealed record StoredRecord(byte[]? Key, byte[]? Value, Headers Headers, DateTime At)
{
    /// <summary>The epoch of the leader that appended it.</summary>
    public int Epoch { get; set; }

    /// <summary>Whether a member of the group that reads its topic has settled it.</summary>
    public bool IsSettled { get; set; }
}

/// <summary>The log of a partition. Deleting old records does not change the offsets of the others.</summary>
internal sealed class Log(Brokers brokers, string topic, int number)
{
    private readonly List<StoredRecord> _records = [];

    public TopicPartition Partition { get; } = new(topic, number);

    /// <summary>The offset of the oldest record.</summary>
    public long First { get; private set; }

    /// <summary>The offset of the next record.</summary>
    public long End => First + _records.Count;

    /// <summary>The epoch of the leader: a number that grows with each new leader, and begins
    /// anew with the topic.</summary>
    public int Epoch { get; private set; }

    /// <summary>The records that the log contains.</summary>
    public IReadOnlyList<StoredRecord> Present => _records;

    /// <summary>Called after each new record.</summary>
    public List<Action> Watchers { get; } = [];

    /// <summary>Every record ever appended, including deleted ones.</summary>
    public List<StoredRecord> All { get; } = [];

    public StoredRecord this[long offset] => _records[(int)(offset - First)];

    public void Append(StoredRecord record)
    {
        record.Epoch = Epoch;
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
        (First, Epoch) = (0, 0);
    }

    /// <summary>Simulates an unclean election: the new leader lacks the newest records.</summary>
    public void Truncate(int count)
    {
        Epoch++;
        _records.RemoveRange(_records.Count - Math.Min(count, _records.Count), Math.Min(count, _records.Count));
    }

    /// <summary>Where the records of an epoch, and of those before it, end; -1 if the log has
    /// no epoch so large.</summary>
    public long EndOf(int epoch) => epoch > Epoch ? -1 : First + _records.Count(record => record.Epoch <= epoch);
}

/// <summary>A model of a Kafka cluster: topics with partitions, and consumer groups. The platform's producers and
/// consumers get clients of this model that behave like those of librdkafka.</summary>
internal sealed class Brokers
{
    /// <summary>The largest size of a record, in bytes.</summary>
    public const int RecordBytesMax = 1_000_000;

    // As many as a cluster usually has.
    private const int Leaders = 3;

    private readonly Dictionary<string, Log[]> _topics = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Group> _groups = new(StringComparer.Ordinal);
    private readonly Dictionary<string, int> _ids = new(StringComparer.Ordinal);

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

    /// <summary>Whether some partition may have had two owners at a time: one that has lost it, or given it up with
    /// commands in flight, and the next owner. Both then work on its accounts, and the order in which their events
    /// reach the brokers is not determined.</summary>
    public bool HadTwoOwners { get; set; }

    /// <summary>Until when no client can reach a broker.</summary>
    public long AwayUntil { get; set; }

    /// <summary>Until when the groups refuse to commit offsets.</summary>
    public long CommitsRefusedUntil { get; set; }

    /// <summary>A topic that cannot be written to, and until when.</summary>
    public (string Topic, long Until) Stuck { get; set; } = ("", 0);

    /// <summary>A partition of every topic whose leader answers slowly, and until when.</summary>
    public (int Number, long Until) Slow { get; set; }

    /// <summary>The clock of the broker that leads a partition of every topic, and by how much it is ahead.</summary>
    public (int Number, TimeSpan Ahead) ClockOff { get; set; }

    /// <summary>The time of the leader of a partition.</summary>
    public DateTime TimeOf(TopicPartition partition) =>
        (Node.TimeOf(Scheduler.Now)
            + (ClockOff.Number == partition.Partition.Value ? ClockOff.Ahead : TimeSpan.Zero)).UtcDateTime;

    /// <summary>Tells a process what the clocks of the brokers show.</summary>
    public void TellTime(SteadyTime time)
    {
        var now = time.GetTimestamp();
        for (var number = 0; number < Leaders; number++)
        {
            time.Hear(
                string.Create(CultureInfo.InvariantCulture, $"broker {number}"),
                TimeOf(new TopicPartition("", number)), TimeSpan.FromMilliseconds(1), now, now);
        }
    }

    /// <summary>Whether a process cannot reach the brokers.</summary>
    public bool IsUnavailableTo(Node node) => AwayUntil > Scheduler.Now || node.ToBrokers.IsCut;

    /// <summary>The next moment when a process may write to a topic; now if it may.</summary>
    public long WritableAt(string topic, Node node) =>
        Math.Max(node.ToBrokers.HealsAt, Math.Max(AwayUntil, Stuck.Topic == topic ? Stuck.Until : 0));

    /// <summary>A random latency of a request about a partition.</summary>
    public TimeSpan Latency(TopicPartition partition) =>
        Dice.UpTo(Slow.Until > Scheduler.Now && Slow.Number == partition.Partition.Value
            ? Math.Max(LatencyMs, 500)
            : LatencyMs);

    /// <summary>The longest latency of a record to the brokers, and of the acknowledgement back, in
    /// milliseconds.</summary>
    public double LatencyMs { get; set; } = 3;

    public IReadOnlyCollection<Group> Groups => _groups.Values;

    public Log[] Create(string topic, int partitions) =>
        _topics[topic] = [.. Enumerable.Range(0, partitions).Select(number => new Log(this, topic, number))];

    /// <summary>Deletes a topic and creates it again, empty and with another id.
    /// The groups lose their offsets in it.</summary>
    public void MakeAgain(string topic)
    {
        _ids[topic] = _ids.GetValueOrDefault(topic) + 1;
        foreach (var log in _topics[topic])
        {
            log.StartAgain();
            foreach (var group in _groups.Values)
            {
                group.Uncommit(log.Partition);
            }
        }
    }

    /// <summary>Asks for the ids of topics, as a process does.</summary>
    public Task<IReadOnlyDictionary<string, string>> IdsAsync(IReadOnlyList<string> topics, Node node) =>
        IsUnavailableTo(node)
            ? Task.FromException<IReadOnlyDictionary<string, string>>(
                new KafkaException(new Error(ErrorCode.Local_TimedOut, "no broker answers")))
            : Task.FromResult<IReadOnlyDictionary<string, string>>(
                topics.ToDictionary(
                    topic => topic, topic => _ids.GetValueOrDefault(topic).ToString(CultureInfo.InvariantCulture),
                    StringComparer.Ordinal));

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
    /// <param name="topic">The topic.</param>
    /// <param name="key">The key.</param>
    /// <param name="known">How many partitions the producer knows of; 0 for all.</param>
    public Log Of(string topic, byte[]? key, int known = 0) => Of(topic, Partition.Any, key, known)!;

    /// <summary>The log of a partition, or of a key if it may be any; null if there is no such partition.</summary>
    public Log? Of(string topic, Partition partition, byte[]? key, int known)
    {
        var logs = _topics[topic];
        var count = known == 0 ? logs.Length : known;
        if (partition != Partition.Any)
        {
            return partition.Value < count ? logs[partition.Value] : null;
        }
        return logs[key is null ? Dice.Next(count) : (int)(Hash(key) % (uint)count)];
    }

    /// <summary>Adds a partition to a topic. Producers learn of it one after the other, and meanwhile two of them may
    /// send the commands of an account to different partitions.</summary>
    public void AddPartition(string topic)
    {
        HadTwoOwners = true;
        var logs = _topics[topic];
        _topics[topic] = [.. logs, new Log(this, topic, logs.Length)];
        PartitionsAdded?.Invoke(topic, logs.Length);
        foreach (var group in _groups.Values)
        {
            group.Rebalance();
        }
    }

    /// <summary>Called with the topic and its former number of partitions when a partition is added.</summary>
    public Action<string, int>? PartitionsAdded { get; set; }

    /// <summary>Appends a record directly, as a producer that is not part of the platform might.</summary>
    public void Inject(string topic, string? key, byte[]? value, string? version)
    {
        var headers = new Headers();
        if (version is not null)
        {
            headers.Add(Messaging.WireFormat.VersionHeader, Encoding.ASCII.GetBytes(version));
        }
        var bytes = key is null ? null : Encoding.UTF8.GetBytes(key);
        var log = Of(topic, bytes);
        log.Append(new StoredRecord(bytes, value, headers, TimeOf(log.Partition)));
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
