using System.ComponentModel.DataAnnotations;

namespace Billing.Proxy.Live;

/// <summary>The live page; section <c>Billing:Live</c>.</summary>
public sealed class LiveOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Live";

    private static readonly TimeSpan KeepForMax = TimeSpan.FromDays(1);
    private static readonly TimeSpan KafkaIntervalMin = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan KafkaIntervalMax = TimeSpan.FromMinutes(5);

    /// <summary>Whether there is a live page beside the REST front.</summary>
    public bool Enabled { get; set; } = true;

    /// <summary>Pages that may watch at the same time, 1 to 1000; the next one is answered 503.</summary>
    [Range(1, 1000, ErrorMessage = "Billing:Live:WatchersMax must be within 1 and 1000.")]
    public int WatchersMax { get; set; } = 20;

    /// <summary>How long calls are still counted when nobody watches any more, so that whoever comes back finds them; zero to a
    /// day.</summary>
    public TimeSpan KeepFor { get; set; } = TimeSpan.FromMinutes(10);

    /// <summary>Payments per second whose steps are timed while somebody watches, 0 to 100; the page's own always are.</summary>
    [Range(0, 100, ErrorMessage = "Billing:Live:SamplesPerSecond must be within 0 and 100.")]
    public int SamplesPerSecond { get; set; } = 3;

    /// <summary>How often the brokers are asked for lag, members and dead letters while somebody watches; 500 ms to 5 min.
    /// </summary>
    public TimeSpan KafkaInterval { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>What is wrong with the settings, naming each.</summary>
    public IEnumerable<string> Problems()
    {
        if (KeepFor < TimeSpan.Zero || KeepFor > KeepForMax)
        {
            yield return $"Billing:Live:KeepFor ({KeepFor}) must be within zero and {KeepForMax}.";
        }
        if (KafkaInterval < KafkaIntervalMin || KafkaInterval > KafkaIntervalMax)
        {
            yield return $"Billing:Live:KafkaInterval ({KafkaInterval}) must be within {KafkaIntervalMin} and {KafkaIntervalMax}.";
        }
    }
}
