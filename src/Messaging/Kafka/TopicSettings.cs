using System.Globalization;
using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>Checks the settings of the topics on the brokers, whoever created them. With some settings,
/// commands are lost before anybody has read them, or nothing can be written.</summary>
internal static class TopicSettings
{
    /// <summary>The setting with which a broker acknowledges a record when it is on its disk, if it is 1.</summary>
    public const string RecordsBeforeSync = "flush.messages";

    /// <summary>The setting with which a broker that lacks acknowledged records may become the leader,
    /// and they are lost.</summary>
    public const string UncleanElections = "unclean.leader.election.enable";

    /// <summary>The setting that says whose clock the time of a record is from.</summary>
    public const string Clock = "message.timestamp.type";

    /// <summary>Its value for the broker's clock. With another, brokers refuse and delete records of a producer
    /// whose clock is wrong.</summary>
    public const string BrokersClock = "LogAppendTime";

    /// <summary>Checks topics. If the brokers do not allow that, it is only logged.</summary>
    /// <param name="admin">A client of the brokers.</param>
    /// <param name="topics">The topics as they would be created, each with its number of replicas.</param>
    /// <param name="timeout">How long to wait for the brokers.</param>
    /// <param name="logger">Gets what is not wrong but risky.</param>
    /// <exception cref="StartupException">A setting loses or refuses records; the message names the
    /// topic and the setting.</exception>
    public static async Task CheckAsync(
        IAdminClient admin, IReadOnlyCollection<(TopicSpecification Wanted, int Replicas)> topics,
        TimeSpan timeout, ILogger logger)
    {
        try
        {
            List<DescribeConfigsResult> described = [];
            await KafkaClients.InsistAsync(
                async () => described = await admin.DescribeConfigsAsync(
                    topics.Select(topic => new ConfigResource { Type = ResourceType.Topic, Name = topic.Wanted.Name }),
                    new DescribeConfigsOptions { RequestTimeout = timeout }),
                timeout);
            var entries = described.ToDictionary(d => d.ConfigResource.Name, d => d.Entries, StringComparer.Ordinal);
            var wrong = topics.SelectMany(topic =>
                Wrong(topic.Wanted, topic.Replicas, entries[topic.Wanted.Name], logger)).ToList();
            if (wrong.Count > 0)
            {
                throw new StartupException(string.Join(Environment.NewLine, wrong));
            }
        }
        catch (KafkaException e)
        {
            KafkaLog.TopicsNotChecked(logger, e.Error.Reason);
        }
    }

    private static IEnumerable<string> Wrong(
        TopicSpecification wanted, int replicas, Dictionary<string, ConfigEntryResult> entries, ILogger logger)
    {
        var topic = wanted.Name;
        if (entries["cleanup.policy"].Value is var policy && policy.Contains("compact", StringComparison.Ordinal))
        {
            yield return $"Kafka topic {topic}: cleanup.policy is '{policy}' and must be 'delete': "
                + "of all commands or events of an account, a compacted topic keeps the last.";
        }
        if (entries[Clock].Value is var clock && clock != BrokersClock)
        {
            yield return $"Kafka topic {topic}: {Clock} is {clock} and must be {BrokersClock}: "
                + "records of a machine whose clock is wrong would be refused, or deleted before they are read.";
        }
        if (Number(entries, "retention.ms") is >= 0 and var kept && kept < KafkaTimes.RetentionMin.TotalMilliseconds)
        {
            yield return $"Kafka topic {topic}: retention.ms is {kept} and must be at least "
                + $"{KafkaTimes.RetentionMin.TotalMilliseconds}: records would be deleted before they are read.";
        }
        if (wanted.Configs.ContainsKey(UncleanElections) && entries[UncleanElections].Value is var unclean
            && unclean != "false")
        {
            yield return $"Kafka topic {topic}: {UncleanElections} is {unclean} and must be false: "
                + "a broker that lacks acknowledged records could become the leader, and they would be lost.";
        }
        var inSync = Number(entries, "min.insync.replicas");
        if (inSync > replicas)
        {
            yield return $"Kafka topic {topic}: min.insync.replicas is {inSync}, but the topic has {replicas} "
                + "replicas: nothing can be written to it.";
        }
        else if (inSync == 1 && replicas > 1)
        {
            KafkaLog.MayLoseRecords(logger, topic, replicas);
        }
        if (wanted.Configs.ContainsKey(RecordsBeforeSync) && Number(entries, RecordsBeforeSync) != 1)
        {
            KafkaLog.NotSynced(logger, topic);
        }
    }

    private static long Number(Dictionary<string, ConfigEntryResult> entries, string name) =>
        long.Parse(entries[name].Value, CultureInfo.InvariantCulture);
}
