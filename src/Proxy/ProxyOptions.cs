using System.ComponentModel.DataAnnotations;

namespace Billing.Proxy;

/// <summary>The limits and timeouts of a proxy; section <c>Billing:Proxy</c>.</summary>
public sealed class ProxyOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Proxy";

    // More than any use needs, and less than the longest time a timer accepts.
    private static readonly TimeSpan IdleBound = TimeSpan.FromDays(1);

    /// <summary>The most calls that may wait for an answer at the same time; further ones are refused with RESOURCE_EXHAUSTED.
    /// The paper's largest burst puts 25,000 on each proxy.</summary>
    [Range(1, 10_000_000)]
    public int InFlightMax { get; set; } = 50_000;

    /// <summary>The target for the average latency of calls, from zero to one hour. The proxy admits as many concurrent calls as
    /// meet it, up to <see cref="InFlightMax"/>, and refuses the rest at once. Zero: it admits InFlightMax calls, whatever their
    /// latency. Set it above the latency of a call in an idle system, the card network's time included.</summary>
    public TimeSpan LatencyTarget { get; set; }

    /// <summary>The most payments of one MakePayments stream in flight at the same time, each from when its request is read until
    /// its answer is written. A stream counts as one call in flight for each of these payments, and as at least one.</summary>
    [Range(1, 100_000)]
    public int StreamWindow { get; set; } = 256;

    /// <summary>The share of <see cref="InFlightMax"/>, in percent, that all streams of payments together may take, 1 to 100;
    /// rounded down, but at least one place. The rest is left to single calls. The streams of one caller take no more of it than
    /// all streams leave free: half of it if there is one caller, a third each if there are two.</summary>
    [Range(1, 100)]
    public int StreamPercent { get; set; } = 50;

    /// <summary>How long a stream may be open with no payment in flight before it is ended with UNAVAILABLE, STREAM_IDLE; above
    /// zero. A client opens another when it has something to send.</summary>
    public TimeSpan StreamIdleMax { get; set; } = TimeSpan.FromMinutes(10);

    /// <summary>The most connections, of gRPC and REST together, 1 to 1,000,000; further ones are closed at once.</summary>
    [Range(1, 1_000_000)]
    public int ConnectionsMax { get; set; } = 5_000;

    /// <summary>The largest size of a request, in bytes. A payment has about 200; the largest request that the rules allow has less than 15,000 as JSON
    /// in which every character is escaped.</summary>
    [Range(256, 4_000_000)]
    public int RequestBytesMax { get; set; } = 16_384;

    /// <summary>The deadline of a call whose caller gives none.</summary>
    public TimeSpan DeadlineDefault { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>The longest deadline of a call, whatever its caller gives.</summary>
    public TimeSpan DeadlineMax { get; set; } = TimeSpan.FromMinutes(5);

    /// <summary>How long a proxy that is shutting down waits for the answers to the calls it has admitted.</summary>
    public TimeSpan DrainTimeout { get; set; } = TimeSpan.FromSeconds(20);

    /// <summary>The basis of the delay that a refused caller is told to wait before a retry: 0.5 to 1.5 times this, multiplied by
    /// the recent ratio of calls made to calls admitted, which counts as at most 50.</summary>
    public TimeSpan RetryAfter { get; set; } = TimeSpan.FromMilliseconds(200);

    /// <summary>The most concurrent calls on one HTTP/2 connection.</summary>
    [Range(1, 100_000)]
    public int StreamsPerConnection { get; set; } = 1000;

    /// <summary>One message for each invalid setting or combination of settings, naming it.</summary>
    public IEnumerable<string> ValidationErrors() => new[]
    {
        StreamWindow > InFlightMax
            ? $"Billing:Proxy:StreamWindow ({StreamWindow}) must not be above Billing:Proxy:InFlightMax ({InFlightMax})." : null,
        StreamIdleMax <= TimeSpan.Zero || StreamIdleMax > IdleBound
            ? $"Billing:Proxy:StreamIdleMax ({StreamIdleMax}) must be above zero and at most {IdleBound}." : null,
        DeadlineDefault <= TimeSpan.Zero || DeadlineDefault > DeadlineMax
            ? $"Billing:Proxy:DeadlineDefault ({DeadlineDefault}) must be above zero and at most Billing:Proxy:DeadlineMax ({DeadlineMax})." : null,
        LatencyTarget < TimeSpan.Zero || LatencyTarget > TimeSpan.FromHours(1)
            ? $"Billing:Proxy:LatencyTarget ({LatencyTarget}) must be between zero and one hour." : null,
        RetryAfter < TimeSpan.Zero ? $"Billing:Proxy:RetryAfter ({RetryAfter}) must not be negative." : null,
        DrainTimeout < TimeSpan.Zero ? $"Billing:Proxy:DrainTimeout ({DrainTimeout}) must not be negative." : null,
    }.OfType<string>();
}
