using System.Globalization;
using System.Text.RegularExpressions;

namespace Billing.Misuse.Watching;

/// <summary>What a proxy holds for its callers, by its own metrics.</summary>
/// <param name="Used">Places in use: calls, streams and their payments.</param>
/// <param name="Connections">Open connections.</param>
/// <param name="Bytes">Memory that callers have, but for that of their connections.</param>
internal sealed partial record Places(long Used, long Connections, long Bytes)
{
    /// <summary>Reads them from metrics in Prometheus' format.</summary>
    /// <exception cref="FormatException">They are not there.</exception>
    public static Places Parse(string metrics) =>
        new(
            Sum(metrics, "billing_proxy_places_used"), Sum(metrics, "kestrel_active_connections"),
            Sum(metrics, "billing_proxy_memory_used", without: "billing_memory_kind=\"connections\""));

    /// <summary>Whether a proxy has given back what hostile callers had.</summary>
    /// <param name="before">What it held before them.</param>
    /// <param name="connections">Connections that other callers may have more than before.</param>
    public bool IsAtRest(Places before, int connections) =>
        Used <= before.Used && Connections <= before.Connections + connections && Bytes <= before.Bytes;

    private static long Sum(string metrics, string name, string? without = null)
    {
        var values = Sample().Matches(metrics).Where(sample => sample.Groups["name"].Value.StartsWith(
            name, StringComparison.Ordinal)
                && (without is null || !sample.Value.Contains(without, StringComparison.Ordinal)))
            .Select(sample => double.Parse(
                sample.Groups["value"].Value, CultureInfo.InvariantCulture)).ToList();
        return values.Count > 0
            ? (long)values.Sum()
            : throw new FormatException($"The proxy's metrics lack {name}.");
    }

    [GeneratedRegex("""^(?<name>[a-z_]+)(\{.*\})? (?<value>[-+.e0-9]+)( \d+)?\r?$""", RegexOptions.Multiline)]
    private static partial Regex Sample();
}
