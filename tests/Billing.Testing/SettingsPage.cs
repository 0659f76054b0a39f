using System.Text.RegularExpressions;

namespace Billing.Testing;

/// <summary>The page of settings, docs/operations/settings.md.</summary>
public static partial class SettingsPage
{
    /// <summary>What the page says of the values of each setting, by the setting's key.</summary>
    public static IReadOnlyDictionary<string, string> Ranges { get; } = (
        from row in Repository.Rows("docs/operations/settings.md", "| key | default | range |")
        let names = Quoted().Matches(row[0]).Select(match => match.Groups[1].Value).ToList()
        from name in names
            // `Billing:Jitter:PaymentMin`, `PaymentMax`: the others are in the section of the first.
        let key = name.Contains(':', StringComparison.Ordinal) || name == names[0]
            ? name
            : names[0][..(names[0].LastIndexOf(':') + 1)] + name
        select (key, row[2])).ToDictionary(StringComparer.Ordinal);

    [GeneratedRegex("`([^`]+)`")]
    private static partial Regex Quoted();
}
