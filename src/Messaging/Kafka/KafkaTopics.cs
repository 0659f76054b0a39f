using Billing.Contracts;
using Billing.Messaging.Hosting;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>Makes the topics that are missing, and deletes reply topics whose proxies are gone.</summary>
public sealed class KafkaTopics(IOptions<KafkaOptions> options, TimeProvider time, ILogger<KafkaTopics> logger)
{
    /// <summary>How long a reply topic may be silent before its proxy counts as gone; a living proxy writes to its own
    /// topic every <see cref="HeartbeatInterval"/>.</summary>
    public static readonly TimeSpan SilenceMax = TimeSpan.FromMinutes(15);

    /// <summary>How often a proxy writes an empty batch to its own topic.</summary>
    public static readonly TimeSpan HeartbeatInterval = TimeSpan.FromMinutes(1);

    private static readonly TimeSpan ReplyRetention = TimeSpan.FromMinutes(10);

    // A timed command's record then says when it reached the broker, not when it was handed to the producer.
    private static readonly Dictionary<string, string> StampedByBroker = new() { ["message.timestamp.type"] = "LogAppendTime" };

    private readonly KafkaOptions _options = options.Value;

    /// <summary>Makes the request, event and dead-letter topics that do not exist yet.</summary>
    /// <exception cref="StartupException">No broker answers at the configured addresses.</exception>
    public async Task EnsureSharedAsync()
    {
        using var admin = Connect();
        IEnumerable<TopicSpecification> wide =
        [
            .. Topics.AllPayments.Select(t => Specification(t, _options.Partitions, StampedByBroker)),
            .. Topics.AllBalances.Append(Topics.Events).Select(t => Specification(t, _options.Partitions)),
        ];
        var existing = Existing(admin);
        var missing = wide.Where(t => !existing.Contains(t.Name)).ToList();
        if (!existing.Contains(Topics.DeadLetters))
        {
            missing.Add(Specification(Topics.DeadLetters, 1));
        }
        await CreateAsync(admin, missing);
    }

    /// <summary>Makes a proxy's reply topic: one partition, kept for ten minutes.</summary>
    /// <exception cref="StartupException">No broker answers at the configured addresses.</exception>
    public async Task CreateReplyTopicAsync(string topic)
    {
        using var admin = Connect();
        var retention = ((long)ReplyRetention.TotalMilliseconds).ToString(System.Globalization.CultureInfo.InvariantCulture);
        await CreateAsync(admin, [Specification(topic, 1, new Dictionary<string, string> { ["retention.ms"] = retention })]);
    }

    /// <summary>Deletes a reply topic; a failure is logged, since the sweep will find the topic later.</summary>
    public async Task DeleteReplyTopicAsync(string topic)
    {
        try
        {
            using var admin = new AdminClientBuilder(_options.Admin("billing-topics")).SetLogHandler((_, _) => { }).Build();
            await admin.DeleteTopicsAsync([topic], new DeleteTopicsOptions { RequestTimeout = TimeSpan.FromSeconds(3), OperationTimeout = TimeSpan.FromSeconds(3) });
        }
        catch (KafkaException e)
        {
            KafkaLog.TopicKept(logger, topic, e.Message);
        }
    }

    /// <summary>Deletes the reply topics that were made, and last written to, longer than <see cref="SilenceMax"/> ago.
    /// </summary>
    public async Task SweepReplyTopicsAsync()
    {
        using var admin = Connect();
        var horizon = time.GetUtcNow() - SilenceMax;
        var old = Existing(admin).Where(t => ProxyId.TryReadStart(t, out var start) && start < horizon).ToList();
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

    private List<string> Silent(List<string> topics, Timestamp since)
    {
        using var consumer = new ConsumerBuilder<Ignore, Ignore>(_options.Consumer("billing-topics", "billing-topics"))
            .SetLogHandler((_, _) => { }).Build();
        try
        {
            var ends = consumer.OffsetsForTimes(topics.Select(t => new TopicPartitionTimestamp(t, 0, since)), _options.StartTimeout);
            return [.. ends.Where(e => e.Offset == Offset.End).Select(e => e.Topic)];
        }
        catch (KafkaException e) when (topics.Count == 1)
        {
            // Another proxy, which starts at the same time, has deleted it. Whatever it is, the next sweep finds what is left.
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
        var admin = new AdminClientBuilder(_options.Admin("billing-topics"))
            .SetErrorHandler((_, e) => lastError = e.Reason)
            .SetLogHandler((_, m) => KafkaLog.ClientLog(logger, m.Facility, m.Message))
            .Build();
        try
        {
            // Asked for, not awaited: the client connects only when there is a question.
            admin.GetMetadata(_options.StartTimeout);
            return admin;
        }
        catch (KafkaException e)
        {
            admin.Dispose();
            throw new StartupException(
                $"Billing:Kafka:BootstrapServers: no broker answers at '{_options.BootstrapServers}' within {_options.StartTimeout.TotalSeconds:0.#} s ({lastError ?? e.Error.Reason}).", e);
        }
    }

    private HashSet<string> Existing(IAdminClient admin) =>
        [.. admin.GetMetadata(_options.StartTimeout).Topics.Select(t => t.Topic)];

    private TopicSpecification Specification(string topic, int partitions, Dictionary<string, string>? configs = null) => new()
    {
        Name = topic,
        NumPartitions = partitions,
        ReplicationFactor = _options.ReplicationFactor,
        Configs = configs,
    };

    private async Task CreateAsync(IAdminClient admin, List<TopicSpecification> missing)
    {
        if (missing.Count == 0)
        {
            return;
        }
        try
        {
            await admin.CreateTopicsAsync(missing);
        }
        catch (CreateTopicsException e) when (e.Results.All(Made))
        {
            // Several services start at once; one of the others made some of them first.
        }
        catch (KafkaException e)
        {
            throw new StartupException("The Kafka topics could not be made: " + e.Message, e);
        }
        foreach (var topic in missing)
        {
            KafkaLog.TopicMade(logger, topic.Name);
        }

        static bool Made(CreateTopicReport report) =>
            report.Error.Code is ErrorCode.NoError or ErrorCode.TopicAlreadyExists;
    }
}
