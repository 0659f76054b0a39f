using Billing.Simulation.Kafka;
using Confluent.Kafka;

namespace Billing.UnitTests.Allocations;

/// <summary>A producer that acknowledges every record at once. It allocates nothing itself.</summary>
internal sealed class AcknowledgingProducer : PlainProducer
{
    private readonly DeliveryReport<string, byte[]> _report = new() { Error = new Error(ErrorCode.NoError) };

    /// <summary>Number of records produced so far.</summary>
    public int Count { get; private set; }

    public override string Name => "";

    public override void Produce(
        TopicPartition topicPartition, Message<string, byte[]> message,
        Action<DeliveryReport<string, byte[]>>? deliveryHandler = null)
    {
        Count++;
        deliveryHandler?.Invoke(_report);
    }
}
