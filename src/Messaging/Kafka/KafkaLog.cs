using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>Log messages of the Kafka transport.</summary>
internal static partial class KafkaLog
{
    [LoggerMessage(100, LogLevel.Information, "Consuming {Topics} as a member of the group {Group}")]
    public static partial void Subscribed(ILogger logger, string topics, string group);

    [LoggerMessage(101, LogLevel.Information, "Assigned {Partitions}")]
    public static partial void Assigned(ILogger logger, string partitions);

    [LoggerMessage(102, LogLevel.Information, "Revoked {Partitions}; {Unsettled} commands were not settled in time and will be delivered to their new owner")]
    public static partial void Revoked(ILogger logger, string partitions, int unsettled);

    [LoggerMessage(103, LogLevel.Warning, "Lost {Partitions}: the group gave them to another member")]
    public static partial void Lost(ILogger logger, string partitions);

    [LoggerMessage(104, LogLevel.Warning, "Dead letter from {Topic}[{Partition}]@{Offset}: {Reason}")]
    public static partial void DeadLetter(ILogger logger, string topic, int partition, long offset, string reason);

    [LoggerMessage(105, LogLevel.Warning, "A reply could not be delivered to {Topic} and is dropped: {Reason}")]
    public static partial void ReplyDropped(ILogger logger, string topic, string reason);

    [LoggerMessage(106, LogLevel.Warning, "{Topic}: {Reason}; sending again")]
    public static partial void SendingAgain(ILogger logger, string topic, string reason);

    [LoggerMessage(107, LogLevel.Warning, "Ignored a record on the reply topic: {Reason}")]
    public static partial void BadReply(ILogger logger, string reason);

    [LoggerMessage(108, LogLevel.Information, "Made the topic {Topic}")]
    public static partial void TopicMade(ILogger logger, string topic);

    [LoggerMessage(109, LogLevel.Information, "Deleted the topic {Topic}, whose proxy is gone")]
    public static partial void TopicSwept(ILogger logger, string topic);

    [LoggerMessage(110, LogLevel.Warning, "The reply topic {Topic} could not be deleted: {Reason}")]
    public static partial void TopicKept(ILogger logger, string topic, string reason);

    [LoggerMessage(111, LogLevel.Critical, "The Kafka client cannot go on and the process stops: {Reason}")]
    public static partial void Fatal(ILogger logger, string reason);

    [LoggerMessage(112, LogLevel.Warning, "{Reason}")]
    public static partial void ClientError(ILogger logger, string reason);

    [LoggerMessage(113, LogLevel.Debug, "{Facility}: {Message}")]
    public static partial void ClientLog(ILogger logger, string facility, string message);

    [LoggerMessage(114, LogLevel.Information, "Paused consuming: {InFlight} commands are in flight")]
    public static partial void Paused(ILogger logger, int inFlight);

    [LoggerMessage(115, LogLevel.Information, "Resumed consuming")]
    public static partial void Resumed(ILogger logger);

    [LoggerMessage(130, LogLevel.Information, "Following {Topic} from {Offsets}")]
    public static partial void Following(ILogger logger, string topic, string offsets);

    [LoggerMessage(131, LogLevel.Warning, "Passed over the record {Topic}[{Partition}]@{Offset}: {Reason}")]
    public static partial void EventIgnored(ILogger logger, string topic, int partition, long offset, string reason);

    [LoggerMessage(132, LogLevel.Warning, "{Topic} no longer holds the events that come next ({Reason}); the read model is rebuilt")]
    public static partial void EventsGone(ILogger logger, string topic, string reason);

    [LoggerMessage(133, LogLevel.Information, "{Topic} has new partitions: {Partitions}")]
    public static partial void PartitionsAdded(ILogger logger, string topic, string partitions);

    [LoggerMessage(134, LogLevel.Warning, "{Topic}[{Partition}] began again at the offset {Offset}: what was known of its offsets is dropped")]
    public static partial void OffsetsBeganAgain(ILogger logger, string topic, int partition, long offset);

    [LoggerMessage(135, LogLevel.Error, "The event {StreamId}@{Version} cannot be taken in and is passed over")]
    public static partial void EventFailed(ILogger logger, Exception e, string streamId, long version);

    [LoggerMessage(136, LogLevel.Warning, "The reply topic {Topic} is gone; making it again")]
    public static partial void ReplyTopicGone(ILogger logger, string topic);

    [LoggerMessage(137, LogLevel.Warning, "Ignored a reply on the reply topic: it does not answer the transaction that its call is about")]
    public static partial void ForgedReply(ILogger logger);

    [LoggerMessage(116, LogLevel.Warning, "The dead letter from {Topic}[{Partition}]@{Offset} is cut: {Reason}")]
    public static partial void DeadLetterCut(ILogger logger, string topic, int partition, long offset, string reason);

    /// <summary>Takes what the native client reports on its own.</summary>
    public static void Error(ILogger logger, Error error)
    {
        if (error.IsFatal)
        {
            Fatal(logger, error.Reason);
        }
        else if (error.Code != ErrorCode.Local_AllBrokersDown)
        {
            // That all brokers are down only sums up what was reported for each.
            ClientError(logger, error.Reason);
        }
    }
}
