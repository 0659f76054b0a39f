using Billing.Messaging;
using Confluent.Kafka;
using Confluent.Kafka.Admin;

namespace Billing.IntegrationTests.Services;

/// <summary>How long the brokers keep the records of the topics that the platform creates, on a real Kafka.</summary>
[Collection(OverKafka.Name)]
public sealed class TopicRetention(KafkaStack stack)
{
    [Fact]
    public async Task Dead_letters_are_kept_for_a_month_as_long_as_they_are_not_larger_than_a_gibibyte()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        using var admin = new AdminClientBuilder(new AdminClientConfig { BootstrapServers = stack.Stack.BootstrapServers }).Build();

        var described = await admin.DescribeConfigsAsync([new ConfigResource { Type = ResourceType.Topic, Name = Topics.DeadLetters }]);

        var settings = described.Single().Entries;
        Assert.Equal("2592000000", settings["retention.ms"].Value);
        Assert.Equal("1073741824", settings["retention.bytes"].Value);
    }
}
