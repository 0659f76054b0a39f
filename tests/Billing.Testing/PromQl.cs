using System.Text.Json;
using System.Text.RegularExpressions;

namespace Billing.Testing;

/// <summary>Finds the metrics in the rules and dashboards of deploy/monitoring.</summary>
public static partial class PromQl
{
    private static readonly HashSet<string> Words = new(StringComparer.Ordinal)
    {
        "and", "or", "unless", "bool", "offset", "inf", "nan",
    };

    /// <summary>Returns the metrics in an expression.</summary>
    public static IEnumerable<string> Metrics(string expression)
    {
        var bare = Grouping().Replace(Braces().Replace(Strings().Replace(expression, "\"\""), ""), " ");
        return Names().Matches(Ranges().Replace(bare, "")).Select(m => m.Value)
            .Where(name => !Words.Contains(name.ToLowerInvariant())).Distinct();
    }

    /// <summary>Returns all expressions of a dashboard: those of its panels and its annotations.</summary>
    public static IEnumerable<string> OfDashboard(string json)
    {
        using var document = JsonDocument.Parse(json);
        return [.. Expressions(document.RootElement)];
    }

    private static IEnumerable<string> Expressions(JsonElement element) => element.ValueKind switch
    {
        JsonValueKind.Object => element.EnumerateObject().SelectMany(property =>
            property.Name == "expr" ? [property.Value.GetString()!] : Expressions(property.Value)),
        JsonValueKind.Array => element.EnumerateArray().SelectMany(Expressions),
        _ => [],
    };

    [GeneratedRegex("\"[^\"]*\"")]
    private static partial Regex Strings();

    [GeneratedRegex(@"\{[^}]*\}", RegexOptions.Singleline)]
    private static partial Regex Braces();

    [GeneratedRegex(@"\[[^\]]*\]")]
    private static partial Regex Ranges();

    [GeneratedRegex(@"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)")]
    private static partial Regex Grouping();

    // Excludes numbers, with or without a unit, and functions.
    [GeneratedRegex(@"(?<![\w:.])[a-zA-Z_:][\w:]*(?![\w:]|\s*\()")]
    private static partial Regex Names();
}
