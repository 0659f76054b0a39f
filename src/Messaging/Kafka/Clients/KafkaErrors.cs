using Confluent.Kafka;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Classifies errors of the Kafka client.</summary>
internal static class KafkaErrors
{
    /// <summary>Whether the brokers or the client report that the topic or partition does not exist.</summary>
    public static bool IsUnknownTopic(this Error error) => error.Code
        is ErrorCode.UnknownTopicOrPart or ErrorCode.Local_UnknownTopic or ErrorCode.Local_UnknownPartition;

    /// <summary>Whether the record is larger than the brokers or the client allow.</summary>
    public static bool IsTooLarge(this Error error) => error.Code
        is ErrorCode.MsgSizeTooLarge or ErrorCode.RecordListTooLarge or ErrorCode.InvalidMsgSize;
}
