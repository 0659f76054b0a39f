using System.ComponentModel.DataAnnotations;

namespace Billing.Proxy;

/// <summary>What a proxy takes on; section <c>Billing:Proxy</c>.</summary>
public sealed class ProxyOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Proxy";

    /// <summary>Calls that may wait for an answer at the same time; the next one is refused with RESOURCE_EXHAUSTED. The
    /// paper's largest burst puts 25,000 on each proxy.</summary>
    [Range(1, 10_000_000, ErrorMessage = "Billing:Proxy:InFlightMax must be within 1 and 10000000.")]
    public int InFlightMax { get; set; } = 50_000;

    /// <summary>Payments of one MakePayments stream that may be held at the same time, each from the reading of its request
    /// until its answer is written. An open stream counts as so many calls in flight.</summary>
    [Range(1, 100_000, ErrorMessage = "Billing:Proxy:StreamWindow must be within 1 and 100000.")]
    public int StreamWindow { get; set; } = 256;

    /// <summary>Size of a request, in bytes.</summary>
    [Range(256, 4_000_000, ErrorMessage = "Billing:Proxy:RequestBytesMax must be within 256 and 4000000.")]
    public int RequestBytesMax { get; set; } = 65_536;

    /// <summary>How long a call waits whose caller gives no deadline.</summary>
    public TimeSpan DeadlineDefault { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>How long a call waits at most, whatever its caller says.</summary>
    public TimeSpan DeadlineMax { get; set; } = TimeSpan.FromMinutes(5);

    /// <summary>How long a proxy that was told to stop waits for the answers to the calls it has taken.</summary>
    public TimeSpan DrainTimeout { get; set; } = TimeSpan.FromSeconds(20);

    /// <summary>What a refused caller is told to wait before it tries again.</summary>
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
        if (DeadlineDefault <= TimeSpan.Zero || DeadlineDefault > DeadlineMax)
        {
            yield return $"Billing:Proxy:DeadlineDefault ({DeadlineDefault}) must be above zero and at most Billing:Proxy:DeadlineMax ({DeadlineMax}).";
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
