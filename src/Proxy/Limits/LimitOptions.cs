using System.ComponentModel.DataAnnotations;

namespace Billing.Proxy.Limits;

/// <summary>What one caller, one connection and one address may take of a proxy; section <c>Billing:Limits</c>. A caller is
/// who its token or certificate names, and otherwise all that come from one address.</summary>
public sealed class LimitOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Limits";

    private static readonly TimeSpan TimeBound = TimeSpan.FromDays(1);

    /// <summary>Calls, and payments on streams, that a caller may make in a second; 0: as many as it can.</summary>
    [Range(0, 10_000_000, ErrorMessage = "Billing:Limits:RequestsPerSecond must be within 0 and 10000000.")]
    public int RequestsPerSecond { get; set; }

    /// <summary>Calls that a caller which was quiet may make at once; 0: those of a second.</summary>
    [Range(0, 10_000_000, ErrorMessage = "Billing:Limits:Burst must be within 0 and 10000000.")]
    public int Burst { get; set; }

    /// <summary>Calls, and payments on streams, that a caller may have in flight; 0: its fair share.</summary>
    [Range(0, 10_000_000, ErrorMessage = "Billing:Limits:InFlightPerCaller must be within 0 and 10000000.")]
    public int InFlightPerCaller { get; set; }

    /// <summary>Connections of one address; the next one is closed at once.</summary>
    [Range(1, 1_000_000, ErrorMessage = "Billing:Limits:ConnectionsPerAddress must be within 1 and 1000000.")]
    public int ConnectionsPerAddress { get; set; } = 1_000;

    /// <summary>How long a connection may be open with no call on it, above zero.</summary>
    public TimeSpan ConnectionIdleMax { get; set; } = TimeSpan.FromSeconds(130);

    /// <summary>How long a caller may take to send the headers of a request, above zero.</summary>
    public TimeSpan HeadersTimeout { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>Size of all headers of a request, in bytes.</summary>
    [Range(1_024, 1_000_000, ErrorMessage = "Billing:Limits:HeaderBytesMax must be within 1024 and 1000000.")]
    public int HeaderBytesMax { get; set; } = 16 * 1024;

    /// <summary>What is wrong with the settings taken together, naming each.</summary>
    public IEnumerable<string> Problems()
    {
        if (Burst > 0 && RequestsPerSecond == 0)
        {
            yield return $"{Section}:Burst needs {Section}:RequestsPerSecond.";
        }
        if (ConnectionIdleMax <= TimeSpan.Zero || ConnectionIdleMax > TimeBound)
        {
            yield return $"{Section}:ConnectionIdleMax ({ConnectionIdleMax}) must be above zero and at most {TimeBound}.";
        }
        if (HeadersTimeout <= TimeSpan.Zero || HeadersTimeout > TimeBound)
        {
            yield return $"{Section}:HeadersTimeout ({HeadersTimeout}) must be above zero and at most {TimeBound}.";
        }
    }
}
