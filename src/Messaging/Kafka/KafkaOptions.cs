using System.ComponentModel.DataAnnotations;
using System.Globalization;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka;

/// <summary>How to reach and use the brokers; section <c>Billing:Kafka</c>.</summary>
public sealed class KafkaOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Kafka";

    // More than this an idempotent producer of librdkafka refuses.
    private const int RequestsInFlightLimit = 5;

    // Whoever publishes may know of a partition that was just added, and callers wait for what is published there; librdkafka's
    // five minutes are more than they do.
    private static readonly TimeSpan PartitionsNoticedWithin = TimeSpan.FromSeconds(5);

    /// <summary>Addresses of some of the brokers, <c>host:port</c>, with commas between.</summary>
    [Required(ErrorMessage = "Billing:Kafka:BootstrapServers is missing; give the brokers' addresses, e.g. localhost:9092.")]
    public string BootstrapServers { get; set; } = "";

    /// <summary>Partitions of each request topic and of the event topic, where they have to be made. The paper's 5. On a cluster
    /// as many as there will ever be backends that share one payment type's load: more of them make smaller batches, and none
    /// can be taken back.</summary>
    [Range(1, 10_000, ErrorMessage = "Billing:Kafka:Partitions must be between 1 and 10000.")]
    public int Partitions { get; set; } = 5;

    /// <summary>Replicas of each topic that has to be made; -1 leaves it to the brokers.</summary>
    [Range(-1, 32_767, ErrorMessage = "Billing:Kafka:ReplicationFactor must be -1 or between 1 and 32767.")]
    public short ReplicationFactor { get; set; } = -1;

    /// <summary>How long to wait for an answer from the brokers at start.</summary>
    public TimeSpan StartTimeout { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>How the backends share out partitions: <c>Classic</c>, with cooperative rebalances, which every broker
    /// has; or <c>Consumer</c>, the protocol of KIP-848 (Kafka 4.0 and later), where the brokers' own
    /// <c>group.consumer.session.timeout.ms</c> and <c>group.consumer.heartbeat.interval.ms</c> take the place of the two
    /// settings below.</summary>
    [EnumDataType(typeof(GroupProtocol), ErrorMessage = "Billing:Kafka:GroupProtocol must be Classic or Consumer.")]
    public GroupProtocol GroupProtocol { get; set; } = GroupProtocol.Classic;

    /// <summary>Silence after which the group gives a backend's partitions to others. A killed backend's share waits about
    /// this long, so it is far below Kafka's default of 45 s; the brokers' <c>group.min.session.timeout.ms</c> (6 s
    /// by default) bounds it from below.</summary>
    public TimeSpan SessionTimeout { get; set; } = TimeSpan.FromSeconds(6);

    /// <summary>How often a backend tells the group that it lives; at most a third of the session timeout.</summary>
    public TimeSpan HeartbeatInterval { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>How long a producer gathers records into one request, where others are under way already: what is sent while nothing
    /// is goes at once.</summary>
    public TimeSpan Linger { get; set; } = TimeSpan.FromMilliseconds(1);

    /// <summary>Requests that a producer has under way to one broker. With one, records gather while it is under way, so
    /// each request carries more of them: on one machine that was worth 16 and 44 % of throughput in two pairs of runs. Where the way to
    /// the brokers is long, up to 5 keep it filled.</summary>
    [Range(1, RequestsInFlightLimit, ErrorMessage = "Billing:Kafka:RequestsInFlightMax must be between 1 and 5: idempotent producers allow no more.")]
    public int RequestsInFlightMax { get; set; } = 1;

    /// <summary>How long an answered command's offset may wait to be committed.</summary>
    public TimeSpan CommitInterval { get; set; } = TimeSpan.FromMilliseconds(500);

    /// <summary>Any property of librdkafka by its own name, e.g. <c>security.protocol</c>, <c>sasl.password</c>; they come
    /// last and so win.</summary>
    public IDictionary<string, string> Properties { get; } = new Dictionary<string, string>(StringComparer.Ordinal);

    /// <summary>Whether a broker's address is of the form <c>host:port</c>.</summary>
    public static bool IsAddress(string address)
    {
        var colon = address.LastIndexOf(':');
        return colon > 0 && ushort.TryParse(address.AsSpan(colon + 1), CultureInfo.InvariantCulture, out var port) && port > 0;
    }

    /// <summary>What is wrong with the settings taken together, naming each.</summary>
    public IEnumerable<string> Problems()
    {
        var addresses = BootstrapServers.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        if (addresses.Length == 0 && BootstrapServers.Length > 0)
        {
            yield return $"Billing:Kafka:BootstrapServers: '{BootstrapServers}' names no broker.";
        }
        foreach (var address in addresses)
        {
            if (!IsAddress(address))
            {
                yield return $"Billing:Kafka:BootstrapServers: '{address}' is not of the form host:port.";
            }
        }
        if (HeartbeatInterval <= TimeSpan.Zero || HeartbeatInterval * 3 > SessionTimeout)
        {
            yield return $"Billing:Kafka:HeartbeatInterval ({HeartbeatInterval}) must be above zero and at most a third of Billing:Kafka:SessionTimeout ({SessionTimeout}).";
        }
        if (CommitInterval < TimeSpan.FromMilliseconds(10) || CommitInterval > TimeSpan.FromMinutes(1))
        {
            yield return $"Billing:Kafka:CommitInterval ({CommitInterval}) must be between 10 ms and one minute.";
        }
        if (Linger < TimeSpan.Zero || Linger > TimeSpan.FromSeconds(1))
        {
            yield return $"Billing:Kafka:Linger ({Linger}) must be between zero and one second.";
        }
    }

    /// <summary>A producer that never reorders or doubles within its session and counts a record as sent when all in-sync
    /// replicas have it.</summary>
    /// <param name="clientId">Names it at the brokers.</param>
    /// <param name="messageTimeout">How long a record may take to be acknowledged; zero for ever.</param>
    /// <param name="gathers">Whether records wait for others, for <see cref="Linger"/> and while a request is under way.</param>
    internal ProducerConfig Producer(string clientId, TimeSpan messageTimeout, bool gathers = true) => Add(new ProducerConfig
    {
        BootstrapServers = BootstrapServers,
        ClientId = clientId,
        Acks = Acks.All,
        EnableIdempotence = true,
        LingerMs = gathers ? Linger.TotalMilliseconds : 0,
        MaxInFlight = gathers ? RequestsInFlightMax : RequestsInFlightLimit,
        MessageTimeoutMs = (int)messageTimeout.TotalMilliseconds,
        QueueBufferingMaxMessages = 1_000_000,
        // The partitioner of Kafka's own clients, so that producers in other languages agree on an account's partition.
        Partitioner = Partitioner.Murmur2Random,
        SocketNagleDisable = true,
        AllowAutoCreateTopics = false,
        // Whoever sends a record has it; only how it went is news.
        DeliveryReportFields = "none",
    });

    /// <summary>A consumer whose offsets move only where it says so.</summary>
    internal ConsumerConfig Consumer(string clientId, string groupId) => Add(new ConsumerConfig
    {
        BootstrapServers = BootstrapServers,
        ClientId = clientId,
        GroupId = groupId,
        AutoOffsetReset = AutoOffsetReset.Earliest,
        EnableAutoOffsetStore = false,
        EnableAutoCommit = false,
        SocketNagleDisable = true,
        AllowAutoCreateTopics = false,
        EnablePartitionEof = false,
    });

    /// <summary>A consumer that reads whole topics by itself. Where what it is to read next is no longer there it gets an
    /// error: to go on from somewhere else would be to miss something unnoticed.</summary>
    internal ConsumerConfig Follower(string clientId)
    {
        var config = Consumer(clientId, clientId);
        config.AutoOffsetReset = AutoOffsetReset.Error;
        return config;
    }

    /// <summary>A member of a consumer group that keeps its partitions over a rebalance where it can.</summary>
    internal ConsumerConfig GroupMember(string clientId, string groupId)
    {
        var config = Consumer(clientId, groupId);
        config.TopicMetadataRefreshIntervalMs = (int)PartitionsNoticedWithin.TotalMilliseconds;
        config.GroupProtocol = GroupProtocol;
        if (GroupProtocol == GroupProtocol.Classic)
        {
            config.PartitionAssignmentStrategy = PartitionAssignmentStrategy.CooperativeSticky;
            config.SessionTimeoutMs = (int)SessionTimeout.TotalMilliseconds;
            config.HeartbeatIntervalMs = (int)HeartbeatInterval.TotalMilliseconds;
        }
        config.EnableAutoCommit = true;
        config.AutoCommitIntervalMs = (int)CommitInterval.TotalMilliseconds;
        return Add(config);
    }

    internal AdminClientConfig Admin(string clientId) => Add(new AdminClientConfig
    {
        BootstrapServers = BootstrapServers,
        ClientId = clientId,
    });

    private T Add<T>(T config)
        where T : ClientConfig
    {
        foreach (var (name, value) in Properties)
        {
            config.Set(name, value);
        }
        return config;
    }
}
