using System.CommandLine;
using System.Globalization;
using Billing.Cli.Experiment;
using Billing.Load.Reporting;

namespace Billing.Load.Measuring;

/// <summary>What one must know to read any figures.</summary>
internal static class Facts
{
    /// <summary>The command as it was typed.</summary>
    public static string CommandLine(ParseResult parsed) =>
        "./billing " + string.Join(' ', parsed.Tokens.Select(t => t.Value.Contains(' ', StringComparison.Ordinal) ? $"'{t.Value}'" : t.Value));

    public static IReadOnlyList<Fact> Of(string command, DateTimeOffset at, Machine machine, bool complete) =>
    [
        new("Command", command),
        new("Date", at.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture)),
        new("Machine", string.Create(CultureInfo.InvariantCulture, $"{machine.Cores} cores, {machine.MemoryGib} GiB, {machine.Os}, {machine.Runtime}")),
        .. complete ? Array.Empty<Fact>() : [new Fact("Incomplete", "Stopped before its end; these are the figures by then.")],
    ];
}
