using System.Runtime.CompilerServices;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Sets where a client reads on, and has it ask the brokers first whether the log still has the record before,
/// by its epoch (KIP-320). If not, the client goes back to where the log was cut.</summary>
internal static class EpochSeek
{
    private const string Library = "Confluent.Kafka.Impl.SafeKafkaHandle, Confluent.Kafka";

    /// <summary>Seeks with the epoch of the offset. The library's own public Seek leaves the epoch out, and the log is
    /// not looked at then.</summary>
    /// <exception cref="KafkaException">The client has not begun to read the partition.</exception>
    public static void SeekInLog(IClient consumer, TopicPartitionOffset begin) =>
        Seek(LibraryHandle(consumer.Handle), begin.Topic, begin.Partition, begin.Offset, -1, begin.LeaderEpoch);

    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "get_LibrdkafkaHandle")]
    [return: UnsafeAccessorType(Library)]
    private static extern object LibraryHandle(Handle handle);

    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = nameof(Seek))]
    private static extern void Seek(
        [UnsafeAccessorType(Library)] object handle, string topic, Partition partition,
        Offset offset, int millisecondsTimeout, int? leaderEpoch);
}
