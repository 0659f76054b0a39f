using System.ComponentModel.DataAnnotations;
using Billing.Hosting;

namespace Billing.Proxy.Limits;

/// <summary>The limits of one caller, one connection and one address; section <c>Billing:Limits</c>. A caller is
/// identified by its token or certificate; without authentication, all calls from one address are one caller.</summary>
internal sealed class LimitOptions : IRelatedSettings
{
    public const string Section = "Billing:Limits";

    private const string Day = "1.00:00:00";

    /// <summary>The most calls, and payments on streams, per second and caller; 0 for no limit.</summary>
    [Range(0, 10_000_000)]
    public int RequestsPerSecond { get; set; }

    /// <summary>The most calls that a caller may make at once after a quiet period, which may take Burst divided by
    /// <see cref="RequestsPerSecond"/> seconds; 0 for <see cref="RequestsPerSecond"/>.</summary>
    [Range(0, 10_000_000)]
    public int Burst { get; set; }

    /// <summary>The most calls, and payments on streams, that a caller may have in flight;
    /// 0 for its fair share only.</summary>
    [Range(0, 10_000_000)]
    public int InFlightPerCaller { get; set; }

    /// <summary>The most calls of health and reflection that an address may have open at once;
    /// anyone may make them, and they may stay open for ever.</summary>
    [Range(1, 1_000_000)]
    public int AnonymousCallsPerAddress { get; set; } = 100;

    /// <summary>The most tokens with a wrong signature that an address may send per minute, not counting those of
    /// subjects that are known there, which may send as many each, and a few of each connection; above that, tokens are
    /// refused without a check of their signatures.</summary>
    [Range(1, 1_000_000)]
    public int InvalidTokensPerMinute { get; set; } = 600;

    /// <summary>How long a connection may be open without a call; above zero.</summary>
    [TimeRange("00:00:00", Day, MinimumIsExclusive = true)]
    public TimeSpan ConnectionIdleMax { get; set; } = TimeSpan.FromSeconds(130);

    /// <summary>How long a connection may be open, a tenth more or less, above zero; then its streams end, of payments,
    /// of a statement and of the live page, and its caller opens another one, perhaps at another proxy
    /// (<see cref="ConnectionAge"/>).</summary>
    [TimeRange("00:00:00", Day, MinimumIsExclusive = true)]
    public TimeSpan ConnectionAgeMax { get; set; } = TimeSpan.FromHours(1);

    /// <summary>How long a caller may take to send the headers of a request; above zero.</summary>
    [TimeRange("00:00:00", Day, MinimumIsExclusive = true)]
    public TimeSpan HeadersTimeout { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>The largest total size of a request's headers, in bytes.</summary>
    [Range(1_024, 1_000_000)]
    public int HeaderBytesMax { get; set; } = 16 * 1024;

    /// <inheritdoc/>
    public IEnumerable<Rule> Rules() =>
    [
        Rule.AtMost(
            Quantity.Of($"{Section}:{nameof(ConnectionIdleMax)}", ConnectionIdleMax),
            Quantity.Of($"{Section}:{nameof(ConnectionAgeMax)}", ConnectionAgeMax),
            "a connection would be idle for longer than it may be open"),
    ];

    public IEnumerable<string> ValidationErrors() =>
        Burst > 0 && RequestsPerSecond == 0 ? [$"{Section}:Burst needs {Section}:RequestsPerSecond."] : [];
}
