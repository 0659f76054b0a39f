using System.ComponentModel.DataAnnotations;

namespace Billing.Proxy;

/// <summary>What a proxy takes on; section <c>Billing:Proxy</c>.</summary>
public sealed class ProxyOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Proxy";

    // More than any use needs, and less than a timer takes.
    private static readonly TimeSpan IdleBound = TimeSpan.FromDays(1);

    /// <summary>Calls that may wait for an answer at the same time; the next one is refused with RESOURCE_EXHAUSTED. The
    /// paper's largest burst puts 25,000 on each proxy.</summary>
    [Range(1, 10_000_000, ErrorMessage = "Billing:Proxy:InFlightMax must be within 1 and 10000000.")]
    public int InFlightMax { get; set; } = 50_000;

    /// <summary>The average time in which calls are to be answered, zero or at most an hour: the proxy takes as many at a time as
    /// allows that, up to <see cref="InFlightMax"/>, and refuses the rest at once. Zero: it takes InFlightMax, however long
    /// they wait. To be above what a call takes in an idle system, the card network's time included.</summary>
    public TimeSpan LatencyTarget { get; set; }

    /// <summary>Payments of one MakePayments stream that may be held at the same time, each from the reading of its request
    /// until its answer is written. A stream counts as as many calls in flight as it has in hand, at least as one.</summary>
    [Range(1, 100_000, ErrorMessage = "Billing:Proxy:StreamWindow must be within 1 and 100000.")]
    public int StreamWindow { get; set; } = 256;

    /// <summary>How many of a hundred places of <see cref="InFlightMax"/> all streams of payments together may take, 1 to 100;
    /// rounded down, and at least one place. The others are left to calls.</summary>
    [Range(1, 100, ErrorMessage = "Billing:Proxy:StreamPercent must be within 1 and 100.")]
    public int StreamPercent { get; set; } = 50;

    /// <summary>How long a stream of payments may be open with nothing in hand before it is ended with UNAVAILABLE,
    /// STREAM_IDLE; above zero. A client opens another when it has something to send.</summary>
    public TimeSpan StreamIdleMax { get; set; } = TimeSpan.FromMinutes(10);

    /// <summary>Connections, of gRPC and REST together, 1 to 1,000,000; the next one is closed at once.</summary>
    [Range(1, 1_000_000, ErrorMessage = "Billing:Proxy:ConnectionsMax must be within 1 and 1000000.")]
    public int ConnectionsMax { get; set; } = 5_000;

    /// <summary>Size of a request, in bytes; those that keep the rules of their fields have some 200.</summary>
    [Range(256, 4_000_000, ErrorMessage = "Billing:Proxy:RequestBytesMax must be within 256 and 4000000.")]
    public int RequestBytesMax { get; set; } = 4_096;

    /// <summary>How long a call waits whose caller gives no deadline.</summary>
    public TimeSpan DeadlineDefault { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>How long a call waits at most, whatever its caller says.</summary>
    public TimeSpan DeadlineMax { get; set; } = TimeSpan.FromMinutes(5);

    /// <summary>How long a proxy that was told to stop waits for the answers to the calls it has taken.</summary>
    public TimeSpan DrainTimeout { get; set; } = TimeSpan.FromSeconds(20);

    /// <summary>What a refused caller is told to wait before it tries again: half to one and a half times this, times the
    /// number of calls made for each that was let in lately, at most 50 times.</summary>
    public TimeSpan RetryAfter { get; set; } = TimeSpan.FromMilliseconds(200);

    /// <summary>Concurrent calls on one HTTP/2 connection.</summary>
    [Range(1, 100_000, ErrorMessage = "Billing:Proxy:StreamsPerConnection must be within 1 and 100000.")]
    public int StreamsPerConnection { get; set; } = 1000;

    /// <summary>What is wrong with the settings taken together, naming each.</summary>
    public IEnumerable<string> Problems()
    {
        if (StreamWindow > InFlightMax)
        {
            yield return $"Billing:Proxy:StreamWindow ({StreamWindow}) must not be above Billing:Proxy:InFlightMax ({InFlightMax}).";
        }
        if (StreamIdleMax <= TimeSpan.Zero || StreamIdleMax > IdleBound)
        {
            yield return $"Billing:Proxy:StreamIdleMax ({StreamIdleMax}) must be above zero and at most {IdleBound}.";
        }
        if (DeadlineDefault <= TimeSpan.Zero || DeadlineDefault > DeadlineMax)
        {
            yield return $"Billing:Proxy:DeadlineDefault ({DeadlineDefault}) must be above zero and at most Billing:Proxy:DeadlineMax ({DeadlineMax}).";
        }
        if (LatencyTarget < TimeSpan.Zero || LatencyTarget > TimeSpan.FromHours(1))
        {
            yield return $"Billing:Proxy:LatencyTarget ({LatencyTarget}) must be within zero and one hour.";
        }
        if (RetryAfter < TimeSpan.Zero)
        {
            yield return $"Billing:Proxy:RetryAfter ({RetryAfter}) must not be negative.";
        }
        if (DrainTimeout < TimeSpan.Zero)
        {
            yield return $"Billing:Proxy:DrainTimeout ({DrainTimeout}) must not be negative.";
        }
    }
}
