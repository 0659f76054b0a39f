using Billing.Chaos.Faults;
using Confluent.Kafka;

namespace Billing.UnitTests.Chaos;

public sealed class DeletedLogTests
{
    [Theory]
    [InlineData("visa", 0, 6, false)]
    [InlineData("visa", 0, 7, true)]
    [InlineData("visa", 0, 8, true)]
    [InlineData("visa", 1, 0, true)]
    [InlineData("visa", 2, 9, false)]
    [InlineData("amex", 0, 9, false)]
    public void What_was_not_read_may_be_lost_with_its_topic(string topic, int partition, long offset, bool mayBeLost)
    {
        var log = new DeletedLog([new TopicPartitionOffset("visa", 0, 7), new TopicPartitionOffset("visa", 1, 0)]);

        Assert.Equal(mayBeLost, log.MayHaveLost(new TopicPartitionOffset(topic, partition, offset)));
    }
}
