using System.CommandLine;
using System.Globalization;
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

    public static IReadOnlyList<Fact> Of(RunInfo run) =>
    [
        new("Command", run.Command),
        new("Date", run.At.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture)),
        new("Machine", string.Create(CultureInfo.InvariantCulture, $"{run.Machine.Cores} cores, {run.Machine.MemoryGib} GiB, {run.Machine.Os}, {run.Machine.Runtime}")),
        .. run.Complete ? Array.Empty<Fact>() : [new Fact("Incomplete", "Stopped before its end; these are the figures by then.")],
    ];
}
