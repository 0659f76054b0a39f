using Confluent.Kafka;

namespace Billing.UnitTests.Allocations;

/// <summary>A producer whose brokers acknowledge everything at once. It allocates nothing of its own.</summary>
internal sealed class AcknowledgingProducer : IProducer<string, byte[]>
{
    private readonly DeliveryReport<string, byte[]> _report = new() { Error = new Error(ErrorCode.NoError) };

    /// <summary>Records produced so far.</summary>
    public int Count { get; private set; }

    public Handle Handle => throw new NotSupportedException();

    public string Name => "";

    public void Produce(string topic, Message<string, byte[]> message, Action<DeliveryReport<string, byte[]>>? deliveryHandler = null)
    {
        Count++;
        deliveryHandler?.Invoke(_report);
    }

    public void Produce(TopicPartition topicPartition, Message<string, byte[]> message, Action<DeliveryReport<string, byte[]>>? deliveryHandler = null) =>
        Produce(topicPartition.Topic, message, deliveryHandler);

    public int Flush(TimeSpan timeout) => 0;

    public void Dispose()
    {
    }

    public Task<DeliveryResult<string, byte[]>> ProduceAsync(string topic, Message<string, byte[]> message, CancellationToken cancellationToken = default) => throw new NotSupportedException();

    public Task<DeliveryResult<string, byte[]>> ProduceAsync(TopicPartition topicPartition, Message<string, byte[]> message, CancellationToken cancellationToken = default) => throw new NotSupportedException();

    public int Poll(TimeSpan timeout) => throw new NotSupportedException();

    public void Flush(CancellationToken cancellationToken = default) => throw new NotSupportedException();

    public void InitTransactions(TimeSpan timeout) => throw new NotSupportedException();

    public void BeginTransaction() => throw new NotSupportedException();

    public void CommitTransaction(TimeSpan timeout) => throw new NotSupportedException();

    public void CommitTransaction() => throw new NotSupportedException();

    public void AbortTransaction(TimeSpan timeout) => throw new NotSupportedException();

    public void AbortTransaction() => throw new NotSupportedException();

    public void SendOffsetsToTransaction(IEnumerable<TopicPartitionOffset> offsets, IConsumerGroupMetadata groupMetadata, TimeSpan timeout) => throw new NotSupportedException();

    public int AddBrokers(string brokers) => throw new NotSupportedException();

    public void SetSaslCredentials(string username, string password) => throw new NotSupportedException();
}
