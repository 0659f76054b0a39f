using Confluent.Kafka;

namespace Billing.Messaging.Kafka;

/// <summary>What errors of the Kafka client mean.</summary>
internal static class KafkaErrors
{
    /// <summary>Whether there is no such topic or partition, by what the brokers or the client say.</summary>
    public static bool IsUnknownTopic(this Error error) => error.Code
        is ErrorCode.UnknownTopicOrPart or ErrorCode.Local_UnknownTopic or ErrorCode.Local_UnknownPartition;

    /// <summary>Whether the record is larger than the brokers or the client allow.</summary>
    public static bool IsTooLarge(this Error error) => error.Code
        is ErrorCode.MsgSizeTooLarge or ErrorCode.RecordListTooLarge or ErrorCode.InvalidMsgSize;
}
