using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Log messages of the Kafka transport.</summary>
internal static partial class KafkaLog
{
    [LoggerMessage(100, LogLevel.Information, "Consuming {Topics} as a member of the group {Group}")]
    public static partial void Subscribed(ILogger logger, string topics, string group);

    [LoggerMessage(101, LogLevel.Information, "Assigned {Partitions}")]
    public static partial void Assigned(ILogger logger, string partitions);

    [LoggerMessage(
        102, LogLevel.Information,
        "Revoked {Partitions}; {Unsettled} commands were not settled in time and will be delivered to their new owner")]
    public static partial void Revoked(ILogger logger, string partitions, int unsettled);

    [LoggerMessage(103, LogLevel.Warning, "Lost {Partitions}: the group gave them to another member")]
    public static partial void Lost(ILogger logger, string partitions);

    [LoggerMessage(104, LogLevel.Warning, "Dead letter from {Topic}[{Partition}]@{Offset}: {Reason}")]
    public static partial void DeadLetter(ILogger logger, string topic, int partition, long offset, string reason);

    [LoggerMessage(105, LogLevel.Warning, "A reply could not be delivered to {Topic} and is dropped: {Reason}")]
    public static partial void ReplyDropped(ILogger logger, string topic, string reason);

    [LoggerMessage(106, LogLevel.Warning, "{Topic}: {Reason}; the record is sent again")]
    public static partial void SendingAgain(ILogger logger, string topic, string reason);

    [LoggerMessage(107, LogLevel.Warning, "Ignored a record on the reply topic: {Reason}")]
    public static partial void BadReply(ILogger logger, string reason);

    [LoggerMessage(108, LogLevel.Information, "Created the topic {Topic}")]
    public static partial void TopicMade(ILogger logger, string topic);

    [LoggerMessage(109, LogLevel.Information, "Deleted the topic {Topic}, whose proxy does not run any more")]
    public static partial void TopicSwept(ILogger logger, string topic);

    [LoggerMessage(110, LogLevel.Warning, "The reply topic {Topic} could not be deleted: {Reason}")]
    public static partial void TopicKept(ILogger logger, string topic, string reason);

    [LoggerMessage(111, LogLevel.Critical, "The Kafka client has failed fatally and the process stops: {Reason}")]
    public static partial void Fatal(ILogger logger, string reason);

    [LoggerMessage(112, LogLevel.Warning, "{Reason}")]
    public static partial void ClientError(ILogger logger, string reason);

    [LoggerMessage(113, LogLevel.Debug, "{Facility}: {Message}")]
    public static partial void ClientLog(ILogger logger, string facility, string message);

    [LoggerMessage(
        114, LogLevel.Information, "Paused consuming: {InFlight} commands are in flight, and take {Memory} of memory")]
    public static partial void Paused(ILogger logger, int inFlight, string memory);

    [LoggerMessage(115, LogLevel.Information, "Resumed consuming")]
    public static partial void Resumed(ILogger logger);

    [LoggerMessage(130, LogLevel.Information, "Following {Topic} from {Offsets}")]
    public static partial void Following(ILogger logger, string topic, string offsets);

    [LoggerMessage(131, LogLevel.Warning, "Skipped the record {Topic}[{Partition}]@{Offset}: {Reason}")]
    public static partial void EventIgnored(ILogger logger, string topic, int partition, long offset, string reason);

    [LoggerMessage(
        132, LogLevel.Warning, "{Topic} no longer contains the next events ({Reason}); the read model is rebuilt")]
    public static partial void EventsGone(ILogger logger, string topic, string reason);

    [LoggerMessage(133, LogLevel.Information, "{Topic} has new partitions: {Partitions}")]
    public static partial void PartitionsAdded(ILogger logger, string topic, string partitions);

    [LoggerMessage(
        134, LogLevel.Error,
        "{Topic}[{Partition}] is another log than before, or has lost its end: it is read again from offset {Offset}; "
            + "the offset before was {Former}, and what was not read until there is lost")]
    public static partial void OffsetsBeganAgain(
        ILogger logger, string topic, int partition, long offset, string former);

    [LoggerMessage(135, LogLevel.Error, "The event {StreamId}@{Version} cannot be applied and is skipped")]
    public static partial void EventFailed(ILogger logger, Exception e, string streamId, long version);

    [LoggerMessage(136, LogLevel.Warning, "The reply topic {Topic} does not exist any more and is created again")]
    public static partial void ReplyTopicGone(ILogger logger, string topic);

    [LoggerMessage(
        137, LogLevel.Warning,
        "Ignored a reply on the reply topic: its transaction id is not that of the waiting call")]
    public static partial void ForgedReply(ILogger logger);

    [LoggerMessage(116, LogLevel.Warning, "The dead letter from {Topic}[{Partition}]@{Offset} is truncated: {Reason}")]
    public static partial void DeadLetterCut(ILogger logger, string topic, int partition, long offset, string reason);

    [LoggerMessage(
        117, LogLevel.Warning,
        "Reading {Partition} again from its committed offset: the event store knows another owner of it")]
    public static partial void StartedOver(ILogger logger, string partition);

    [LoggerMessage(118, LogLevel.Warning, "The settings of the topics could not be checked: {Reason}")]
    public static partial void TopicsNotChecked(ILogger logger, string reason);

    [LoggerMessage(
        119, LogLevel.Warning,
        "{Topic} has {Replicas} replicas and min.insync.replicas 1: "
            + "what only one broker has acknowledged is lost with its disk")]
    public static partial void MayLoseRecords(ILogger logger, string topic, int replicas);

    [LoggerMessage(
        138, LogLevel.Information,
        "{Topic} is without flush.messages=1: records that the brokers have just acknowledged are lost if all of them "
            + "lose their power at once")]
    public static partial void NotSynced(ILogger logger, string topic);

    [LoggerMessage(139, LogLevel.Warning, "Cannot take over {Count} events, and tries again: {Reason}")]
    public static partial void EventsRefused(ILogger logger, int count, string reason);

    [LoggerMessage(
        140, LogLevel.Error,
        "{Topic}[{Partition}] no longer contains {Count} records before offset {Offset}: nobody has taken them")]
    public static partial void RecordsMissed(ILogger logger, string topic, int partition, long count, long offset);

    [LoggerMessage(
        150, LogLevel.Warning, "{Topic} was deleted and created again: its id was {Former} and is {Present}")]
    public static partial void TopicMadeAgain(ILogger logger, string topic, string former, string present);

    [LoggerMessage(
        151, LogLevel.Warning,
        "{Topic}[{Partition}] has to be read again from offset {Offset}, which cannot be committed at present, "
            + "and nothing is taken from there until it is: {Reason}")]
    public static partial void NotBegunAgain(ILogger logger, string topic, int partition, long offset, string reason);

    /// <summary>Logs an error that the native client reports.</summary>
    public static void Error(ILogger logger, Error error)
    {
        if (error.IsFatal)
        {
            Fatal(logger, error.Reason);
        }
        else if (error.Code != ErrorCode.Local_AllBrokersDown)
        {
            // This code only summarises the errors that were already reported for each broker.
            ClientError(logger, error.Reason);
        }
    }

    [LoggerMessage(141, LogLevel.Warning, "The brokers do not tell their time at present: {Reason}")]
    public static partial void BrokersTimeUnknown(ILogger logger, string reason);
}
