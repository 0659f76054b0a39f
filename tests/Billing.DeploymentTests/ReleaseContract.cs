using System.Globalization;
using System.Text.RegularExpressions;

namespace Billing.DeploymentTests;

/// <summary>The documented contract of deployments: tiers, ports and connections of deploy/README.md, and the settings
/// of docs/operations/settings.md.</summary>
internal static partial class ReleaseContract
{
    /// <summary>The product's version.</summary>
    public static string Version { get; } = VersionElement().Match(Read("Directory.Build.props")).Groups[1].Value;

    /// <summary>The ports that each tier listens on for others.</summary>
    public static IReadOnlyDictionary<string, IReadOnlySet<int>> Ports { get; } = Repository.Rows(
        "deploy/README.md", "| tier | machines | listens at |")
        .ToDictionary(row => row[0], row => (IReadOnlySet<int>)Numbers(row[2]));

    /// <summary>The allowed connections.</summary>
    public static IReadOnlySet<(string From, string To, int Port)> Arrows { get; } = (
        from row in Repository.Rows("deploy/README.md", "| from | to | at |")
        from caller in row[0].Split(", ")
        from called in row[1].Split(", ")
        from port in Numbers(row[2])
        select (caller, called, port)).ToHashSet();

    /// <summary>Whether an environment variable is one of the platform's settings, or of a machine's.</summary>
    public static bool IsSetting(string variable)
    {
        var key = Receiver().Replace(variable.Replace("__", ":", StringComparison.Ordinal), ":Receivers:NAME:");
        return SettingsPage.Ranges.ContainsKey(key) || Machine.Contains(variable)
            || key.StartsWith("Billing:Kafka:Properties:", StringComparison.Ordinal);
    }

    private static HashSet<string> Machine { get; } =
        [.. Repository.Rows("deploy/README.md", "| variable | example | meaning |").Select(row => row[0].Trim('`'))];

    private static HashSet<int> Numbers(string text) =>
        [.. Port().Matches(text).Select(match => int.Parse(match.Value, CultureInfo.InvariantCulture))];

    private static string Read(string file) => File.ReadAllText(Path.Combine(Repository.Root, file));

    [GeneratedRegex("<Version>(.*?)</Version>")]
    private static partial Regex VersionElement();

    [GeneratedRegex(":Receivers:[a-z0-9_-]+:")]
    private static partial Regex Receiver();

    [GeneratedRegex(@"\b\d{4,5}\b")]
    private static partial Regex Port();
}
