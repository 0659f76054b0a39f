using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.IntegrationTests.Services;

/// <summary>How long the brokers keep the records of the topics that the platform creates, and settings that it
/// refuses, on a real Kafka.</summary>
[Collection(OverKafka.Name)]
public sealed class TopicRetention(KafkaStack stack)
{
    [Fact]
    public async Task Dead_letters_are_kept_for_a_month_as_long_as_they_are_not_larger_than_a_gibibyte()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        using var admin = KafkaClients.Admin(new AdminClientConfig { BootstrapServers = stack.Stack.BootstrapServers });

        var described = await admin.DescribeConfigsAsync(
            [new ConfigResource { Type = ResourceType.Topic, Name = Topics.DeadLetters }]);

        var settings = described.Single().Entries;
        Assert.Equal("2592000000", settings["retention.ms"].Value);
        Assert.Equal("1073741824", settings["retention.bytes"].Value);
    }

    [Fact]
    public async Task Payments_events_and_dead_letters_are_acknowledged_when_they_are_on_disks()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        using var admin = KafkaClients.Admin(new AdminClientConfig { BootstrapServers = stack.Stack.BootstrapServers });

        var described = await admin.DescribeConfigsAsync(
            Topics.AllPayments.Append(Topics.Events).Append(Topics.DeadLetters)
                .Select(topic => new ConfigResource { Type = ResourceType.Topic, Name = topic }));

        Assert.All(described, topic => Assert.Equal("1", topic.Entries["flush.messages"].Value));
    }

    [Theory]
    [InlineData("cleanup.policy", "compact", "delete")]
    [InlineData("retention.ms", "60000", null)]
    [InlineData("min.insync.replicas", "2", "1")]
    [InlineData("unclean.leader.election.enable", "true", "false")]
    [InlineData("message.timestamp.type", "CreateTime", "LogAppendTime")]
    public async Task A_topic_that_would_lose_or_refuse_records_keeps_services_from_starting(
        string setting, string wrong, string? right)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        var topic = Topics.Payments(V1.PaymentType.Discover);
        var options = new KafkaOptions { BootstrapServers = stack.Stack.BootstrapServers! };
        var topics = new KafkaTopics(Options.Create(options), TimeProvider.System, NullLogger<KafkaTopics>.Instance);
        await topics.EnsureSharedAsync();

        await stack.SetTopicAsync(topic, setting, wrong);
        try
        {
            var e = await Assert.ThrowsAsync<StartupException>(topics.EnsureSharedAsync);

            Assert.StartsWith($"Kafka topic {topic}: {setting} is ", e.Message, StringComparison.Ordinal);
            Assert.Contains(wrong, e.Message, StringComparison.Ordinal);
        }
        finally
        {
            await stack.SetTopicAsync(topic, setting, right);
        }
        await topics.EnsureSharedAsync();
    }

    [Fact]
    public async Task A_record_is_stored_with_the_brokers_time_whatever_the_clock_of_its_producer_shows()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        using var admin = KafkaClients.Admin(new AdminClientConfig { BootstrapServers = stack.Stack.BootstrapServers });
        var options = new KafkaOptions { BootstrapServers = stack.Stack.BootstrapServers! };
        var topics = new KafkaTopics(Options.Create(options), TimeProvider.System, NullLogger<KafkaTopics>.Instance);
        await topics.EnsureSharedAsync();
        var replies = Topics.Replies("20260131T120000Z-" + Guid.NewGuid().ToString("N")[..8]);
        await topics.CreateReplyTopicAsync(replies);
        var config = options.Producer("clocks", TimeSpan.FromSeconds(20));
        config.DeliveryReportFields = "timestamp";
        config.TopicMetadataPropagationMaxMs = 30_000;
        using var producer = KafkaClients.Producer<string, byte[]>(config);

        // Nobody reads these.
        foreach (var topic in (string[])[replies, Topics.Clocks])
        {
            foreach (var ahead in (TimeSpan[])
            [
                TimeSpan.FromDays(-3000), TimeSpan.FromHours(-1), TimeSpan.FromMinutes(61), TimeSpan.FromDays(3000),
            ])
            {
                var stored = await producer.ProduceAsync(
                    topic, new Message<string, byte[]>
                    {
                        Key = "clocks",
                        Value = [],
                        Timestamp = new Timestamp(TimeProvider.System.GetUtcNow() + ahead),
                    });

                Assert.Equal(TimestampType.LogAppendTime, stored.Timestamp.Type);
                Assert.Equal(
                    TimeProvider.System.GetUtcNow().UtcDateTime, stored.Timestamp.UtcDateTime, TimeSpan.FromMinutes(5));
            }
        }
        var described = await admin.DescribeConfigsAsync(
            Topics.AllRequests.Append(Topics.Events).Append(Topics.DeadLetters).Append(replies)
                .Select(topic => new ConfigResource { Type = ResourceType.Topic, Name = topic }));
        Assert.All(described, topic => Assert.Equal("LogAppendTime", topic.Entries["message.timestamp.type"].Value));
        await topics.DeleteReplyTopicAsync(replies);
    }
}
