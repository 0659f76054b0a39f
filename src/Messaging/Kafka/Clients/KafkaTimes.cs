using Billing.Hosting;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>The times of what is asked of the brokers, sent to them and kept by them. They depend on one another:
/// <see cref="Rules"/> says how. Those that an operator may set are in <see cref="KafkaOptions"/>.</summary>
public static class KafkaTimes
{
    /// <summary>How often a client asks for the leaders and the partitions of its topics. A producer may already
    /// publish to a partition that was just added, and callers wait for the replies; a client of a broker whose host
    /// does not answer learns of the next leader no earlier. librdkafka's default of five minutes is too long for
    /// them.</summary>
    public static readonly TimeSpan MetadataRefresh = TimeSpan.FromSeconds(5);

    /// <summary>How long a broker may take to answer a request. What was sent to a host that does not answer has to be
    /// sent again, to the next leader; records behind it wait for that, to keep their order. librdkafka's default is a
    /// minute.</summary>
    public static readonly TimeSpan Request = TimeSpan.FromSeconds(10);

    /// <summary>How long a turn of events that is not acknowledged holds up the next: then one broker does not answer,
    /// and others may be well.</summary>
    public static readonly TimeSpan Turn = Request / 2;

    /// <summary>How long a reply may take to be acknowledged, then it is dropped: long enough to be sent twice to a
    /// leader that does not answer, and to the next one. The caller repeats its request, and gets the answer from the
    /// receipt.</summary>
    public static readonly TimeSpan Reply = (Request * 2) + MetadataRefresh;

    /// <summary>The wait before a record that a broker has refused is sent again.</summary>
    public static readonly TimeSpan SendAgain = TimeSpan.FromMilliseconds(250);

    /// <summary>How long the loop of a consumer waits for the answer to a question: it takes no records
    /// meanwhile.</summary>
    public static readonly TimeSpan Question = TimeSpan.FromSeconds(2);

    /// <summary>The time between two looks whether a topic is still the same.</summary>
    public static readonly TimeSpan TopicLook = TimeSpan.FromSeconds(5);

    /// <summary>How long a client sends what is left when its service stops.</summary>
    public static readonly TimeSpan Flush = TimeSpan.FromSeconds(5);

    /// <summary>How long the deletion of a proxy's reply topic may take.</summary>
    public static readonly TimeSpan TopicDeletion = TimeSpan.FromSeconds(3);

    /// <summary>How often a proxy writes an empty batch to its own reply topic.</summary>
    public static readonly TimeSpan ReplyTopicHeartbeat = TimeSpan.FromMinutes(1);

    /// <summary>How long a reply topic must have had no record until it counts as abandoned.</summary>
    public static readonly TimeSpan ReplyTopicSilent = ReplyTopicHeartbeat * 8;

    /// <summary>How long a reply topic keeps an answer.</summary>
    public static readonly TimeSpan ReplyRetention = TimeSpan.FromMinutes(10);

    /// <summary>The shortest time that commands and events must be kept: as long as an outage of all backends may
    /// reasonably last.</summary>
    public static readonly TimeSpan RetentionMin = TimeSpan.FromHours(1);

    /// <summary>How long dead letters are kept: longer than other topics on any sensible broker, since an operator must
    /// find out what was wrong and replay them.</summary>
    public static readonly TimeSpan DeadLetterRetention = TimeSpan.FromDays(30);

    /// <summary>What these times must keep to.</summary>
    public static IReadOnlyList<Rule> Rules { get; } =
    [
        Rule.AtMost(
            Quantity.Of("two requests and a look for the next leader", Reply),
            Quantity.Of("the sending of a command", CommandDeadline.SendingMax),
            "a command, like a reply, has the time to reach the next leader"),
        Rule.Less(
            Quantity.Of("a question to the brokers", Question),
            Quantity.Of("the time between two looks at a topic", TopicLook),
            "one question at a time"),
        Rule.AtMost(
            Quantity.Of("two flushes", Flush * 2), Quantity.Of("the end of a stop", StopTimes.Ending),
            "replies are sent, then events, in time"),
        Rule.Less(
            Quantity.Of("the heartbeat of a reply topic", ReplyTopicHeartbeat),
            Quantity.Of("the retention of a reply topic", ReplyRetention),
            "a topic in use is never empty"),
        Rule.Less(
            Quantity.Of(
                "two heartbeats of a reply topic and the tolerance of clocks",
                (ReplyTopicHeartbeat * 2) + ClockVote.Tolerance),
            Quantity.Of("the silence of an abandoned reply topic", ReplyTopicSilent),
            "a lost heartbeat or a clock that is a little off deletes no topic that is in use"),
        Rule.Less(
            Quantity.Of("the silence of an abandoned reply topic", ReplyTopicSilent),
            Quantity.Of("the retention of a reply topic", ReplyRetention),
            "the brokers keep the heartbeats that show whether a topic is in use"),
        Rule.AtMost(
            Quantity.Of("the retention of a reply topic", ReplyRetention),
            Quantity.Of("the shortest retention of commands", RetentionMin),
            "commands outlast their callers"),
        Rule.Less(
            Quantity.Of("the shortest retention of commands", RetentionMin),
            Quantity.Of("the retention of dead letters", DeadLetterRetention),
            "an operator has time to act"),
    ];
}
