using System.CommandLine;
using System.Globalization;
using Billing.Cli.Experiment;
using Billing.Load.Reporting;

namespace Billing.Load.Measuring;

/// <summary>What one must know to read any figures.</summary>
internal static class Facts
{
    /// <summary>The command as it was typed, but for what may be secret.</summary>
    public static string CommandLine(ParseResult parsed)
    {
        var words = parsed.Tokens.Select(t => t.Value).ToList();
        return "./billing " + string.Join(' ', words.Select((word, i) => i > 0 && words[i - 1] == "--postgres" && word != "auto" ? "..." : Quoted(word)));
    }

    private static string Quoted(string word) => word.Contains(' ', StringComparison.Ordinal) ? $"'{word}'" : word;

    public static IReadOnlyList<Fact> Of(string command, DateTimeOffset at, Machine machine, bool complete) =>
    [
        new("Command", command),
        new("Date", at.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture)),
        new("Machine", string.Create(CultureInfo.InvariantCulture, $"{machine.Cores} cores, {machine.MemoryGib} GiB, {machine.Os}, {machine.Runtime}")),
        .. complete ? Array.Empty<Fact>() : [new Fact("Incomplete", "Stopped before its end; these are the figures by then.")],
    ];
}
