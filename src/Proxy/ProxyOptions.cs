using System.ComponentModel.DataAnnotations;
using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;

namespace Billing.Proxy;

/// <summary>The limits and timeouts of a proxy; section <c>Billing:Proxy</c>.</summary>
public sealed class ProxyOptions : IRelatedSettings
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Proxy";

    /// <summary>The most unread data of one call.</summary>
    internal const int StreamWindowBytes = RequestBytesLargest + (2 * SurplusBytes);

    /// <summary>The largest value of <see cref="RequestBytesMax"/>.</summary>
    internal const int RequestBytesLargest = 64 * 1024;

    private const int SurplusBytes = 1024;

    // The longest time of any setting: more than any use needs, and less than the longest time that a timer accepts.
    private const string Day = "1.00:00:00";

    /// <summary>The most calls that may wait for an answer at the same time, and no more than memory allows; further
    /// ones are refused with RESOURCE_EXHAUSTED. The paper's largest burst puts 25,000 on each proxy.</summary>
    [Range(1, 10_000_000)]
    public int InFlightMax { get; set; } = 50_000;

    /// <summary>The target for the average latency of calls, from zero to one hour. The proxy admits as many
    /// concurrent calls as meet it, up to <see cref="InFlightMax"/>, and refuses the rest at once. Zero: it admits
    /// InFlightMax calls, whatever their latency. Set it above the latency of a call in an idle system, the card
    /// network's time included.</summary>
    [TimeRange("00:00:00", "01:00:00")]
    public TimeSpan LatencyTarget { get; set; }

    /// <summary>The most payments of one MakePayments stream in flight at the same time, each from when its
    /// request is read until its answer is written. A stream counts as one call in flight for each of these
    /// payments, and as at least one.</summary>
    [Range(1, 100_000)]
    public int StreamWindow { get; set; } = 256;

    /// <summary>The share of <see cref="InFlightMax"/>, in percent, that all streams of payments together may
    /// take, 1 to 100; rounded down, but at least one place. The rest is left to single calls. The streams of
    /// one caller take no more of it than all streams leave free: half of it if there is one caller, a third
    /// each if there are two.</summary>
    [Range(1, 100)]
    public int StreamPercent { get; set; } = 50;

    /// <summary>How long a stream may be open with no payment in flight before it is ended with UNAVAILABLE,
    /// STREAM_IDLE; above zero, at most a day. A client opens another when it has something to send.</summary>
    [TimeRange("00:00:00", Day, MinimumIsExclusive = true)]
    public TimeSpan StreamIdleMax { get; set; } = TimeSpan.FromMinutes(10);

    /// <summary>The most connections, of gRPC and REST together, 1 to 1,000,000, and no more than memory allows;
    /// further ones are closed at once. An address has no more of them than stay free.</summary>
    [Range(1, 1_000_000)]
    public int ConnectionsMax { get; set; } = 5_000;

    /// <summary>The largest size of a request, in bytes. A payment has about 200; the largest request that the rules
    /// allow has less than 15,000 as JSON in which every character is escaped.</summary>
    [Range(256, RequestBytesLargest)]
    public int RequestBytesMax { get; set; } = 16_384;

    /// <summary>The deadline of a call whose caller gives none.</summary>
    [TimeRange("00:00:00", Day, MinimumIsExclusive = true)]
    public TimeSpan DeadlineDefault { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>The longest deadline of a call, whatever its caller gives.</summary>
    [TimeRange("00:00:00", Day, MinimumIsExclusive = true)]
    public TimeSpan DeadlineMax { get; set; } = TimeSpan.FromMinutes(5);

    /// <summary>How long a proxy that is shutting down waits for the answers to the calls it has admitted; at most a
    /// day. Whoever stops it has to wait for this and for <see cref="StopTimes.Ending"/>.</summary>
    [TimeRange("00:00:00", Day)]
    public TimeSpan DrainTimeout { get; set; } = TimeSpan.FromSeconds(20);

    /// <summary>The basis of the delay that a refused caller is told to wait before a retry: 0.5 to 1.5
    /// times this, multiplied by the recent ratio of calls made to calls admitted, which counts as at most
    /// 50; at most an hour.</summary>
    [TimeRange("00:00:00", "01:00:00")]
    public TimeSpan RetryAfter { get; set; } = TimeSpan.FromMilliseconds(200);

    /// <summary>The most concurrent calls on one HTTP/2 connection.</summary>
    [Range(1, 100_000)]
    public int StreamsPerConnection { get; set; } = 1000;

    /// <summary>The most bytes of a request that are read: one that is a little larger than
    /// <see cref="RequestBytesMax"/> is read, so that its refusal can state its size.</summary>
    internal int RequestBytesRead => RequestBytesMax + SurplusBytes;

    /// <inheritdoc/>
    public IEnumerable<Rule> Rules()
    {
        var longest = Quantity.Of($"{Section}:{nameof(DeadlineMax)}", DeadlineMax);
        return
        [
            Rule.AtMost(
                Quantity.Of($"{Section}:{nameof(StreamWindow)}", StreamWindow),
                Quantity.Of($"{Section}:{nameof(InFlightMax)}", InFlightMax),
                "a stream could never fill its window"),
            Rule.AtMost(
                Quantity.Of($"{Section}:{nameof(DeadlineDefault)}", DeadlineDefault), longest,
                "a caller that names no deadline gets no later one than a caller that does"),
            Rule.Less(
                Quantity.Of($"{Section}:{nameof(LatencyTarget)}", LatencyTarget), longest,
                "no call lasts longer than its deadline, so no latency would ever be above the target"),
            Rule.AtMost(
                longest, Quantity.Of("the retention of a reply topic", KafkaTimes.ReplyRetention),
                "an answer must not be deleted while its caller waits for it"),
        ];
    }
}
