using System.ComponentModel.DataAnnotations;

namespace Billing.Client;

/// <summary>Where the proxies are and how to call them; section <c>Billing:Client</c>.</summary>
public sealed class BillingClientOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Client";

    /// <summary>Addresses of the proxies, e.g. <c>http://localhost:5000</c>; calls go to each in turn.</summary>
    [MinLength(1, ErrorMessage = "Billing:Client:Proxies is empty; give at least one address, e.g. http://localhost:5000.")]
    public IList<string> Proxies { get; } = [];

    /// <summary>How long a call may take, with all its retries. Streams have no deadline: the proxy bounds the wait for each
    /// answer.</summary>
    public TimeSpan Deadline { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Tries after the first, each on another proxy.</summary>
    [Range(0, 100, ErrorMessage = "Billing:Client:RetriesMax must be within 0 and 100.")]
    public int RetriesMax { get; set; } = 8;

    /// <summary>The wait before the first retry; each further one is about twice as long. A proxy's own hint wins.
    /// </summary>
    public TimeSpan RetryDelay { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Payments that a bulk run holds at the same time, each from its request until its answer is taken.</summary>
    public int StreamWindow { get; set; } = 256;

    /// <summary>What is wrong with the settings, naming each.</summary>
    public IEnumerable<string> Problems()
    {
        foreach (var proxy in Proxies)
        {
            if (!Uri.TryCreate(proxy, UriKind.Absolute, out var address) || address.Scheme is not ("http" or "https"))
            {
                yield return $"Billing:Client:Proxies: '{proxy}' is not an address of the form http://host:port.";
            }
        }
        if (StreamWindow is < 1 or > 100_000)
        {
            yield return $"Billing:Client:StreamWindow ({StreamWindow}) must be within 1 and 100000.";
        }
        if (Deadline <= TimeSpan.Zero)
        {
            yield return $"Billing:Client:Deadline ({Deadline}) must be above zero.";
        }
    }
}
