using System.Globalization;
using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>Creates the missing topics, and deletes the reply topics of proxies that do not run any more.</summary>
public sealed class KafkaTopics(IOptions<KafkaOptions> options, TimeProvider time, ILogger<KafkaTopics> logger)
{
    private const long DeadLetterBytes = 1L << 30;

    // A broker acknowledges a record when it is on its disk: what was acknowledged, a payment's 202 among it, outlives
    // a loss of power of all brokers. Requests for balances and replies need no more than their callers' patience.
    private static readonly Dictionary<string, string> Synced =
        new() { [TopicSettings.RecordsBeforeSync] = "1", [TopicSettings.UncleanElections] = "false" };

    // Brokers of which each leads one: a cluster seldom has more, and three clocks show which one is wrong.
    private const int ClockPartitions = 3;

    private static readonly Dictionary<string, string> ClockSettings =
        new() { ["retention.ms"] = Milliseconds(KafkaTimes.RetentionMin) };

    private static readonly Dictionary<string, string> DeadLetterSettings =
        new(Synced)
        {
            ["retention.ms"] = Milliseconds(KafkaTimes.DeadLetterRetention),
            ["retention.bytes"] = Text(DeadLetterBytes),
        };

    private readonly KafkaOptions _options = options.Value;

    /// <summary>Creates the shared topics that do not exist yet, and checks the settings of all. Payments, events
    /// and dead letters are acknowledged when they are on the disks of the brokers (<c>flush.messages=1</c>). Dead
    /// letters are kept for 30 days, as long as there is no more than 1 GiB of them; the brokers' settings determine
    /// how long the other topics are kept. The time of each record is that of the broker that appended it.</summary>
    /// <exception cref="StartupException">No broker answers at the configured addresses, or a topic has a setting with
    /// which records would be lost or refused (<see cref="TopicSettings"/>).</exception>
    public async Task EnsureSharedAsync()
    {
        using var admin = Connect();
        var existing = Existing(admin);
        if (Shared().FindAll(t => !existing.ContainsKey(t.Name)) is { Count: > 0 } missing)
        {
            await CreateAsync(admin, missing);
            existing = Existing(admin);
        }
        await CheckAsync(admin, existing);
    }

    /// <summary>Checks the settings of these topics, as <see cref="EnsureSharedAsync"/> does,
    /// and creates none.</summary>
    /// <exception cref="StartupException">No broker answers, a topic is missing, or one has a setting with which
    /// records would be lost or refused.</exception>
    public async Task CheckSharedAsync()
    {
        using var admin = Connect();
        var existing = Existing(admin);
        await CheckAsync(admin, existing);
        if (Shared().FindAll(t => !existing.ContainsKey(t.Name)) is { Count: > 0 } missing)
        {
            throw new StartupException(
                $"Kafka topic {string.Join(", ", missing.Select(t => t.Name))}: it does not exist.");
        }
    }

    /// <summary>Creates the topic of the brokers' clocks if it does not exist.</summary>
    /// <exception cref="StartupException">No broker answers, or none allows it.</exception>
    public async Task EnsureClocksAsync()
    {
        using var admin = Connect();
        if (!Existing(admin).ContainsKey(Topics.Clocks))
        {
            await CreateAsync(admin, Shared().FindAll(t => t.Name == Topics.Clocks));
        }
    }

    /// <summary>Creates a proxy's reply topic: one partition, with a retention time of ten minutes.</summary>
    /// <exception cref="StartupException">No broker answers at the configured addresses.</exception>
    public async Task CreateReplyTopicAsync(string topic)
    {
        using var admin = Connect();
        await CreateAsync(
            admin, [Specification(topic, 1, new() { ["retention.ms"] = Milliseconds(KafkaTimes.ReplyRetention) })]);
    }

    /// <summary>Deletes a reply topic. A failure is only logged, because a later sweep deletes the topic.</summary>
    public async Task DeleteReplyTopicAsync(string topic)
    {
        try
        {
            using var admin = KafkaClients.Admin(_options.Admin("billing-topics"));
            await admin.DeleteTopicsAsync([topic], new DeleteTopicsOptions
            {
                RequestTimeout = KafkaTimes.TopicDeletion,
                OperationTimeout = KafkaTimes.TopicDeletion,
            });
        }
        catch (KafkaException e)
        {
            KafkaLog.TopicKept(logger, topic, e.Message);
        }
    }

    /// <summary>Deletes the reply topics that were created, and last written to, longer than
    /// <see cref="KafkaTimes.ReplyTopicSilent"/> ago: those of the proxy of this name
    /// (<see cref="KafkaOptions.ProxyName"/>), and without a name, those of all proxies that have none.</summary>
    public async Task SweepReplyTopicsAsync()
    {
        // Topics that a broker leads whose clock is behind would look abandoned.
        if (time is SteadyTime steady && steady.Others.Any(other => other.Ahead.Duration() > ClockVote.Tolerance))
        {
            return;
        }
        using var admin = Connect();
        var horizon = time.GetUtcNow() - KafkaTimes.ReplyTopicSilent;
        var old = Existing(admin).Keys
            .Where(t => ProxyId.TryReadStart(t, _options.ProxyName, out var start) && start < horizon).ToList();
        if (old.Count == 0)
        {
            return;
        }
        foreach (var topic in Silent(old, new Timestamp(horizon.UtcDateTime)))
        {
            await DeleteReplyTopicAsync(topic);
            KafkaLog.TopicSwept(logger, topic);
        }
    }

    private List<TopicSpecification> Shared() =>
    [
        .. Topics.AllPayments.Select(t => Specification(t, _options.Partitions, Synced)),
        .. Topics.AllBalances.Select(t => Specification(t, _options.Partitions)),
        Specification(Topics.Events, _options.Partitions, Synced),
        Specification(Topics.DeadLetters, 1, DeadLetterSettings),
        Specification(Topics.Clocks, ClockPartitions, ClockSettings),
    ];

    // The brokers may not show a new topic yet.
    private Task CheckAsync(IAdminClient admin, Dictionary<string, int> existing) => TopicSettings.CheckAsync(
        admin, Shared().FindAll(t => existing.GetValueOrDefault(t.Name) > 0).ConvertAll(t => (t, existing[t.Name])),
        _options.StartTimeout, logger);

    private List<string> Silent(List<string> topics, Timestamp since)
    {
        using var consumer = KafkaClients.Consumer<Ignore, Ignore>(
            _options.Consumer("billing-topics", "billing-topics"));
        try
        {
            var ends = consumer.OffsetsForTimes(
                topics.Select(t => new TopicPartitionTimestamp(t, 0, since)), _options.StartTimeout);
            return [.. ends.Where(e => e.Offset == Offset.End).Select(e => e.Topic)];
        }
        catch (KafkaException e) when (topics.Count == 1)
        {
            // Another proxy that starts at the same time may have deleted it. In any case, the next
            // sweep finds the rest.
            KafkaLog.TopicKept(logger, topics[0], e.Error.Reason);
            return [];
        }
        catch (KafkaException)
        {
            return [.. topics.SelectMany(topic => Silent([topic], since))];
        }
    }

    private IAdminClient Connect()
    {
        string? lastError = null;
        var admin = KafkaClients.Admin(_options.Admin("billing-topics"), e => lastError = e.Reason, logger);
        try
        {
            // The client connects only when there is a request, so request the metadata.
            admin.GetMetadata(_options.StartTimeout);
            return admin;
        }
        catch (KafkaException e)
        {
            admin.Dispose();
            throw new StartupException(
                $"Billing:Kafka:BootstrapServers: no broker answers at '{_options.BootstrapServers}' within "
                    + $"{_options.StartTimeout.TotalSeconds:0.#} s ({lastError ?? e.Error.Reason}).", e);
        }
    }

    // The number of replicas of each topic, by its name.
    private Dictionary<string, int> Existing(IAdminClient admin) => admin.GetMetadata(_options.StartTimeout).Topics
        .ToDictionary(
            t => t.Topic, t => t.Partitions.Count == 0 ? 0 : t.Partitions[0].Replicas.Length, StringComparer.Ordinal);

    private static string Milliseconds(TimeSpan time) => Text((long)time.TotalMilliseconds);

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private TopicSpecification Specification(
        string topic, int partitions, Dictionary<string, string>? configs = null) => new()
        {
            Name = topic,
            NumPartitions = partitions,
            ReplicationFactor = _options.ReplicationFactor,
            Configs =
            new(configs ?? []) { ["cleanup.policy"] = "delete", [TopicSettings.Clock] = TopicSettings.BrokersClock },
        };

    private async Task CreateAsync(IAdminClient admin, List<TopicSpecification> missing)
    {
        try
        {
            await KafkaClients.InsistAsync(() => admin.CreateTopicsAsync(missing), _options.StartTimeout);
        }
        catch (CreateTopicsException e) when (e.Results.All(Exists))
        {
            // Another service that starts at the same time has created some of them.
        }
        catch (KafkaException e)
        {
            throw new StartupException("The Kafka topics could not be created: " + e.Message, e);
        }
        foreach (var topic in missing)
        {
            KafkaLog.TopicMade(logger, topic.Name);
        }

        static bool Exists(CreateTopicReport report) =>
            report.Error.Code is ErrorCode.NoError or ErrorCode.TopicAlreadyExists;
    }
}
