using Confluent.Kafka;

namespace Billing.Simulation.Kafka;

/// <content>What the platform does not use.</content>
internal sealed partial class ModelConsumer
{
    public IConsumerGroupMetadata ConsumerGroupMetadata => throw new NotSupportedException();

    public Handle Handle => throw new NotSupportedException();

    public ConsumeResult<byte[], byte[]> Consume(int millisecondsTimeout) => throw new NotSupportedException();

    public ConsumeResult<byte[], byte[]> Consume(CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public void Subscribe(string topic) => throw new NotSupportedException();

    public void Unsubscribe() => throw new NotSupportedException();

    public void Assign(TopicPartition partition) => throw new NotSupportedException();

    public void Assign(IEnumerable<TopicPartition> partitions) => throw new NotSupportedException();

    public void IncrementalAssign(IEnumerable<TopicPartitionOffset> partitions) => throw new NotSupportedException();

    public void IncrementalAssign(IEnumerable<TopicPartition> partitions) => throw new NotSupportedException();

    public void IncrementalUnassign(IEnumerable<TopicPartition> partitions) => throw new NotSupportedException();

    public void StoreOffset(ConsumeResult<byte[], byte[]> result) => throw new NotSupportedException();

    public void Commit(ConsumeResult<byte[], byte[]> result) => throw new NotSupportedException();

    public List<TopicPartitionOffset> Committed(TimeSpan timeout) => throw new NotSupportedException();

    public List<TopicPartitionOffset> OffsetsForTimes(
        IEnumerable<TopicPartitionTimestamp> timestampsToSearch, TimeSpan timeout) =>
        throw new NotSupportedException();

    public int AddBrokers(string brokers) => throw new NotSupportedException();

    public void SetSaslCredentials(string username, string password) => throw new NotSupportedException();
}
