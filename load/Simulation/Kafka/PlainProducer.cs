using Confluent.Kafka;

namespace Billing.Simulation.Kafka;

/// <summary>A substitute for librdkafka's producer with the only operation that the platform uses: to send a record
/// with a key to a topic. Flush does nothing; all other methods throw <see cref="NotSupportedException"/>.</summary>
internal abstract class PlainProducer : IProducer<string, byte[]>
{
    public Handle Handle => throw new NotSupportedException();

    public abstract string Name { get; }

    public void Produce(
        string topic, Message<string, byte[]> message,
        Action<DeliveryReport<string, byte[]>>? deliveryHandler = null) =>
        Produce(new TopicPartition(topic, Partition.Any), message, deliveryHandler);

    public abstract void Produce(
        TopicPartition topicPartition, Message<string, byte[]> message,
        Action<DeliveryReport<string, byte[]>>? deliveryHandler = null);

    public Task<DeliveryResult<string, byte[]>> ProduceAsync(
        string topic, Message<string, byte[]> message, CancellationToken cancellationToken = default) =>
        throw new NotSupportedException();

    public Task<DeliveryResult<string, byte[]>> ProduceAsync(
        TopicPartition topicPartition, Message<string, byte[]> message,
        CancellationToken cancellationToken = default) =>
        throw new NotSupportedException();

    public int Poll(TimeSpan timeout) => throw new NotSupportedException();

    public int Flush(TimeSpan timeout) => 0;

    public void Flush(CancellationToken cancellationToken = default) => throw new NotSupportedException();

    public void InitTransactions(TimeSpan timeout) => throw new NotSupportedException();

    public void BeginTransaction() => throw new NotSupportedException();

    public void CommitTransaction(TimeSpan timeout) => throw new NotSupportedException();

    public void CommitTransaction() => throw new NotSupportedException();

    public void AbortTransaction(TimeSpan timeout) => throw new NotSupportedException();

    public void AbortTransaction() => throw new NotSupportedException();

    public void SendOffsetsToTransaction(
        IEnumerable<TopicPartitionOffset> offsets, IConsumerGroupMetadata groupMetadata, TimeSpan timeout) =>
        throw new NotSupportedException();

    public int AddBrokers(string brokers) => throw new NotSupportedException();

    public void SetSaslCredentials(string username, string password) => throw new NotSupportedException();

    public void Dispose()
    {
    }
}
