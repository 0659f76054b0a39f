using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class EpochSeekTests
{
    [Fact]
    public void It_reaches_the_client_and_a_partition_that_is_not_read_is_refused()
    {
        using var consumer = KafkaClients.Consumer<byte[], byte[]>(
            new ConsumerConfig { BootstrapServers = "127.0.0.1:1", GroupId = "group" });

        var refused = Assert.Throws<KafkaException>(
            () => EpochSeek.SeekInLog(consumer, new TopicPartitionOffset("topic", 0, 5, 1)));

        Assert.Equal(ErrorCode.Local_UnknownPartition, refused.Error.Code);
    }
}
