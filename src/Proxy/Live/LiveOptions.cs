using System.ComponentModel.DataAnnotations;
using Billing.Hosting;

namespace Billing.Proxy.Live;

/// <summary>The settings of the live page; section <c>Billing:Live</c>.</summary>
internal sealed class LiveOptions
{
    public const string Section = "Billing:Live";

    /// <summary>Whether the REST front has a live page.</summary>
    public bool Enabled { get; set; } = true;

    /// <summary>The most pages that may watch at the same time, 1 to 1000; further ones are answered 503.</summary>
    [Range(1, 1000)]
    public int WatchersMax { get; set; } = 20;

    /// <summary>How long calls are still counted after the last page was closed, so that a page opened again shows
    /// them; zero to one day.</summary>
    [TimeRange("00:00:00", "1.00:00:00")]
    public TimeSpan KeepFor { get; set; } = TimeSpan.FromMinutes(10);

    /// <summary>The number of payments per second whose steps are timed while somebody watches, 0 to 100.
    /// Payments made on the page are always timed.</summary>
    [Range(0, 100)]
    public int SamplesPerSecond { get; set; } = 3;

    /// <summary>The interval at which the brokers are queried for lag, group members and dead letters while somebody
    /// watches; 500 ms to 5 min.</summary>
    [TimeRange("00:00:00.500", "00:05:00")]
    public TimeSpan KafkaInterval { get; set; } = TimeSpan.FromSeconds(2);
}
