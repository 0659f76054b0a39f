using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;

namespace Billing.Proxy.Hosting;

/// <summary>What the times and limits of a proxy must keep to that no setting changes, and what its defaults must keep
/// to.</summary>
internal static class ProxyTimes
{
    public static IReadOnlyList<Rule> Rules { get; } =
    [
        Rule.AtMost(
            Quantity.Of("the last write of a stream, a flush and the deletion of a topic",
                StreamEnd.Grace + KafkaTimes.Flush + KafkaTimes.TopicDeletion),
            Quantity.Of("the end of a stop", StopTimes.Ending),
            "a proxy that has answered its calls has left nothing behind when it is killed"),
        Rule.AtMost(
            Quantity.Of(
                "the most bytes of a request that are read",
                new ProxyOptions { RequestBytesMax = ProxyOptions.RequestBytesLargest }.RequestBytesRead),
            Quantity.Of("the window of a stream in bytes", ProxyOptions.StreamWindowBytes),
            "a request fits into its stream"),
        Rule.AtMost(
            Quantity.Of("the time for a request to come whole", RequestBodies.TimeMax),
            Quantity.Of(
                $"the default of {ProxyOptions.Section}:{nameof(ProxyOptions.DeadlineDefault)}",
                new ProxyOptions().DeadlineDefault),
            "a caller that sends slowly is told so before it gives up"),
        Rule.AtMost(
            Quantity.Of("the sending of a reply", KafkaTimes.Reply),
            Quantity.Of(
                $"the default of {ProxyOptions.Section}:{nameof(ProxyOptions.DeadlineDefault)}",
                new ProxyOptions().DeadlineDefault),
            "a backend must not hold commands up for replies that nobody waits for"),
        Rule.AtMost(
            Quantity.Of("the tolerance of clocks", ClockVote.Tolerance),
            Quantity.Of(
                $"the default of {AuthOptions.Section}:{nameof(AuthOptions.ClockSkew)}",
                new AuthOptions().ClockSkew),
            "a proxy whose clock is not called wrong must not refuse valid tokens"),
    ];
}
