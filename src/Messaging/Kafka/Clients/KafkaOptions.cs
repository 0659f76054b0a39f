using System.ComponentModel.DataAnnotations;
using System.Globalization;
using Billing.Hosting;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Settings of the connection to the brokers; section <c>Billing:Kafka</c>.</summary>
public sealed class KafkaOptions : IRelatedSettings
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Kafka";

    // What a client holds outside of the heap, whatever comes: a service on a small machine has no more to spare.
    // librdkafka's defaults are 64 MiB of records that are not consumed yet, and answers of 50 MiB.
    private const int UnreadKilobytesMax = 16 * 1024;
    private const int FetchBytesMax = 8 * 1024 * 1024;

    // Some 100,000 payments. librdkafka's default is a gigabyte.
    private const int UnsentKilobytesMax = 32 * 1024;

    // The largest value that an idempotent producer of librdkafka accepts.
    private const int RequestsInFlightLimit = 5;

    /// <summary>Addresses of some of the brokers, <c>host:port</c>, separated by commas.</summary>
    [Required(ErrorMessage = "is missing; give the brokers' addresses, e.g. localhost:9092.")]
    public string BootstrapServers { get; set; } = "";

    /// <summary>Number of partitions of each request topic and of the event topic when they are created; the paper uses
    /// 5. On a cluster choose the largest number of backends that will ever share the load of one payment type: more
    /// partitions make batches smaller, and partitions cannot be removed.</summary>
    [Range(1, 10_000)]
    public int Partitions { get; set; } = 5;

    /// <summary>Number of replicas of each topic that is created; -1 for the brokers' default.</summary>
    [Range(-1, 32_767, ErrorMessage = "must be -1 or between 1 and 32767.")]
    public short ReplicationFactor { get; set; } = -1;

    /// <summary>How long to wait for the brokers' answer at start; above zero, at most an hour.</summary>
    [TimeRange("00:00:00", "01:00:00", MinimumIsExclusive = true)]
    public TimeSpan StartTimeout { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>The rebalance protocol of the backends' groups: <c>Classic</c>, with cooperative rebalances, which
    /// every broker supports; or <c>Consumer</c>, the protocol of KIP-848 (Kafka 4.0 and later), where the
    /// brokers' own <c>group.consumer.session.timeout.ms</c> and <c>group.consumer.heartbeat.interval.ms</c>
    /// replace the two settings below.</summary>
    [EnumDataType(typeof(GroupProtocol), ErrorMessage = "must be Classic or Consumer.")]
    public GroupProtocol GroupProtocol { get; set; } = GroupProtocol.Classic;

    /// <summary>The time without a heartbeat after which the group assigns a backend's partitions to other members. The
    /// commands on a killed backend's partitions wait about this long, so it is far below Kafka's default of 45 s; the
    /// minimum is the brokers' <c>group.min.session.timeout.ms</c> (6 s by default), the maximum the time that a client
    /// of librdkafka may take between two polls (5 min).</summary>
    [TimeRange("00:00:00", "00:05:00", MinimumIsExclusive = true)]
    public TimeSpan SessionTimeout { get; set; } = TimeSpan.FromSeconds(6);

    /// <summary>The interval of a backend's heartbeats to its group; at most a third of the session timeout.</summary>
    [TimeRange("00:00:00", "00:05:00", MinimumIsExclusive = true)]
    public TimeSpan HeartbeatInterval { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>How long a producer batches records into one request while other records are in flight;
    /// a record that is sent while none is in flight is sent at once; zero to a second.</summary>
    [TimeRange("00:00:00", "00:00:01")]
    public TimeSpan Linger { get; set; } = TimeSpan.FromMilliseconds(1);

    /// <summary>Largest number of requests that a producer has in flight to one broker. With 1, records are batched
    /// while the request is in flight, so each request contains more of them: on one machine this increased
    /// throughput by 16 and 44 % in two pairs of runs. If the latency to the brokers is high, up to 5 use the
    /// connection better.</summary>
    [Range(1, RequestsInFlightLimit, ErrorMessage = "must be between 1 and 5: idempotent producers allow no more.")]
    public int RequestsInFlightMax { get; set; } = 1;

    /// <summary>The longest time after which the offset of an answered command is committed; 10 ms to a
    /// minute.</summary>
    [TimeRange("00:00:00.010", "00:01:00")]
    public TimeSpan CommitInterval { get; set; } = TimeSpan.FromMilliseconds(500);

    /// <summary>How often the clients publish where records and requests wait within them
    /// (<c>billing.kafka.client.wait</c>); zero for never, at most an hour.</summary>
    [TimeRange("00:00:00", "01:00:00")]
    public TimeSpan StatisticsInterval { get; set; }

    /// <summary>The password that <c>sasl.password</c> replaces, used while the brokers refuse that one:
    /// clients may have the new password before the brokers do.</summary>
    public string FormerPassword { get; set; } = "";

    /// <summary>The name of a proxy that is a user of the brokers of its own, empty for none: its reply topics are then
    /// named <c>billing.replies.NAME.ID</c>, so that the access list can keep them from other proxies, and it deletes
    /// no abandoned ones but its own. At most 64 of the characters <c>A-Z a-z 0-9 _ -</c>.</summary>
    public string ProxyName { get; set; } = "";

    /// <summary>Properties of librdkafka by their own names, e.g. <c>security.protocol</c>, <c>sasl.password</c>;
    /// they override the other settings.</summary>
    public IDictionary<string, string> Properties { get; } = new Dictionary<string, string>(StringComparer.Ordinal);

    /// <summary>From when on a member of a group that another one has replaced may read its partition again, although
    /// the group has not taken it away: longer than the group needs to tell it, or than its client needs to give the
    /// partition up when it does not reach the group. Else it would take the partition back from its owner.</summary>
    internal TimeSpan FencedMax => TimeSpan.FromTicks((long)Session.Value) + (HeartbeatInterval * 4);

    private Quantity Session => Given("session.timeout.ms", nameof(SessionTimeout), SessionTimeout);

    /// <inheritdoc/>
    public IEnumerable<Rule> Rules()
    {
        var heartbeat = Given("heartbeat.interval.ms", nameof(HeartbeatInterval), HeartbeatInterval);
        yield return Rule.AtMost(
            heartbeat with { Name = "three times " + heartbeat.Name, Value = heartbeat.Value * 3 }, Session,
            "the group must not take the partitions of a living backend when two heartbeats are late");
    }

    /// <summary>Whether a broker's address has the form <c>host:port</c>.</summary>
    public static bool IsAddress(string address)
    {
        var colon = address.LastIndexOf(':');
        return colon > 0 && ushort.TryParse(address.AsSpan(colon + 1), CultureInfo.InvariantCulture, out var port)
            && port > 0;
    }

    /// <summary>Returns the errors in the values of the settings and in their combination;
    /// each message names its settings.</summary>
    public IEnumerable<string> ValidationErrors()
    {
        var addresses = BootstrapServers.Split(
            ',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        if (addresses.Length == 0 && BootstrapServers.Length > 0)
        {
            yield return $"Billing:Kafka:BootstrapServers: '{BootstrapServers}' contains no broker address.";
        }
        foreach (var address in addresses.Where(address => !IsAddress(address)))
        {
            yield return $"Billing:Kafka:BootstrapServers: '{address}' is not of the form host:port.";
        }
        if (ProxyName.Length > 0 && !ProxyId.IsName(ProxyName))
        {
            yield return $"Billing:Kafka:ProxyName: '{ProxyName}' must be at most {ProxyId.NameLengthMax} of the "
                + "characters A-Z a-z 0-9 _ -.";
        }
        if (FormerPassword.Length > 0
            && !(Properties.ContainsKey("sasl.password") && Properties.ContainsKey("sasl.username")))
        {
            yield return "Billing:Kafka:FormerPassword is set, but not both of Billing:Kafka:Properties:sasl.username "
                + "and Billing:Kafka:Properties:sasl.password.";
        }
    }

    /// <summary>Returns the configuration of a producer. If it is idempotent, it neither reorders nor duplicates
    /// records within its session, and fails for good when the brokers have lost some of them. A record is acknowledged
    /// when all in-sync replicas have it, for which it may take <paramref name="messageTimeout"/>, or any time if that
    /// is zero. Records are batched, if they are, for <see cref="Linger"/> and while a request is in flight.</summary>
    internal ProducerConfig Producer(
        string clientId, TimeSpan messageTimeout, bool batches = true, bool idempotent = true) => Add(new ProducerConfig
        {
            BootstrapServers = BootstrapServers,
            ClientId = clientId,
            Acks = Acks.All,
            EnableIdempotence = idempotent,
            LingerMs = batches ? Linger.TotalMilliseconds : 0,
            MaxInFlight = batches ? RequestsInFlightMax : RequestsInFlightLimit,
            MessageTimeoutMs = (int)messageTimeout.TotalMilliseconds,
            QueueBufferingMaxMessages = 1_000_000,
            // The partitioner of Kafka's Java client, so that producers in other languages choose the same
            // partition for an account.
            Partitioner = Partitioner.Murmur2Random,
            SocketNagleDisable = true,
            AllowAutoCreateTopics = false,
            // The sender still has the record; only the result is needed.
            DeliveryReportFields = "none",
        });

    /// <summary>Returns the configuration of a producer of commands. It keeps no more of them than 32 MiB: each further
    /// one is refused, and its caller is told so.</summary>
    internal ProducerConfig Commands(string clientId, TimeSpan messageTimeout, bool batches = true)
    {
        var config = Producer(clientId, messageTimeout, batches);
        config.QueueBufferingMaxKbytes ??= UnsentKilobytesMax;
        return config;
    }

    /// <summary>Returns the configuration of a consumer that neither stores nor commits offsets
    /// automatically.</summary>
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
        QueuedMaxMessagesKbytes = UnreadKilobytesMax,
        FetchMaxBytes = FetchBytesMax,
        // A record that was damaged on the way is an error instead of a command.
        CheckCrcs = true,
    });

    /// <summary>Returns the configuration of a consumer that reads whole topics without a group. If the
    /// next offset no longer exists it receives an error, because continuing at another offset would miss
    /// records without notice.</summary>
    internal ConsumerConfig Follower(string clientId)
    {
        var config = Consumer(clientId, clientId);
        config.AutoOffsetReset = AutoOffsetReset.Error;
        return config;
    }

    /// <summary>Returns the configuration of a member of a consumer group that keeps its partitions during a
    /// rebalance if possible.</summary>
    internal ConsumerConfig GroupMember(string clientId, string groupId)
    {
        var config = Consumer(clientId, groupId);
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

    // A property of librdkafka overrides the setting.
    private Quantity Given(string property, string name, TimeSpan setting) =>
        Properties.TryGetValue(property, out var given)
        && int.TryParse(given, CultureInfo.InvariantCulture, out var milliseconds)
            ? Quantity.Of($"{Section}:Properties:{property}", TimeSpan.FromMilliseconds(milliseconds))
            : Quantity.Of($"{Section}:{name}", setting);

    private T Add<T>(T config)
        where T : ClientConfig
    {
        config.TopicMetadataRefreshIntervalMs = (int)KafkaTimes.MetadataRefresh.TotalMilliseconds;
        config.StatisticsIntervalMs = (int)StatisticsInterval.TotalMilliseconds;
        config.SocketTimeoutMs = (int)KafkaTimes.Request.TotalMilliseconds;
        foreach (var (name, value) in Properties)
        {
            config.Set(name, value);
        }
        if (FormerPassword.Length > 0)
        {
            config.Set(KafkaClients.FormerPassword, FormerPassword);
        }
        return config;
    }
}
